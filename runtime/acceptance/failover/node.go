package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// memberPace is how soon a node notes that it became another member: far sooner than it can become
// the next.
const memberPace = 5 * time.Millisecond

// runNode is a process that executes runs until it gets SIGTERM.
func runNode(ctx context.Context, j *journal.Journal, o *orders, d *diary) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	n := runtime.NewNode(j, &runtime.NodeOptions{Name: o.Name, Lease: o.Lease, Logger: log})
	h := &hand{diary: d}
	runtime.Handle(n, chain, h.chain, nil)
	runtime.Handle(n, sleeper, h.sleeper, nil)
	runtime.Handle(n, receiver, h.receiver, nil)
	runtime.Handle(n, holder, h.holder, nil)
	runtime.Handle(n, bounded, h.bounded, nil)
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchMember(watching, n, d)
	}()
	err := n.Run(ctx)
	stop()
	<-watched
	return err
}

// watchMember notes each id under which the node is a member. A second one says that the node was
// declared dead, or believed so.
func watchMember(ctx context.Context, n *runtime.Node, d *diary) {
	tick := time.NewTicker(memberPace)
	defer tick.Stop()
	var last journal.NodeID
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if id := n.ID(); id != 0 && id != last {
			last = id
			d.write(entry{What: joined, Value: strconv.Itoa(int(id))})
		}
	}
}
