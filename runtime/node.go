package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// Node executes runs. Between registration and Run it only holds options; while it runs it is one incarnation after
// another, each with its own id, lease and actors.
type Node struct {
	j      *journal.Journal
	o      NodeOptions
	tel    *telemetry
	client *Client

	mu          sync.Mutex
	running     bool
	definitions map[definitionKey]*replay.Definition // read-only once running
	routes      []journal.Route                      // read-only once running

	current atomic.Pointer[incarnation] // nil while not a member
	views   views
}

// NewNode returns a node on a journal. o may be nil.
func NewNode(j *journal.Journal, o *NodeOptions) *Node {
	n := &Node{j: j, o: o.withDefaults(), definitions: map[definitionKey]*replay.Definition{}}
	n.tel = newTelemetry(n.o.TracerProvider, n.o.MeterProvider, n.o.Logger)
	n.client = newClient(j, n, n.o.Poll, n.tel)
	return n
}

// Client returns the node's own client. Runs that it starts and the node serves are owned by the node from birth.
func (n *Node) Client() *Client { return n.client }

// ID returns the id of the node's present incarnation, 0 while it is not a member.
func (n *Node) ID() journal.NodeID {
	if inc := n.current.Load(); inc != nil {
		return inc.id
	}
	return 0
}

// Run joins and executes runs until ctx ends, then drains: it stops claiming, lets steps end for a while, cancels
// the rest with a cause, hands all runs back and leaves. It returns nil after an orderly drain.
func (n *Node) Run(ctx context.Context) error {
	n.mu.Lock()
	if n.running {
		n.mu.Unlock()
		return ErrRunning
	}
	n.running = true
	n.mu.Unlock()
	n.views.open()
	defer func() {
		n.views.close()
		n.mu.Lock()
		n.running = false
		n.mu.Unlock()
	}()
	for {
		err := n.incarnate(ctx)
		if !errors.Is(err, journal.ErrNodeLost) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		n.tel.log.WarnContext(ctx, "node was lost, joining anew", keyNodeName, n.o.Name, keyError, err)
	}
}

// incarnate joins and lives until ctx ends (nil) or the lease is lost (ErrNodeLost).
func (n *Node) incarnate(ctx context.Context) error {
	var m journal.Membership
	var sent time.Time
	err := retry.UntilAvailable(ctx, func() (err error) {
		sent = time.Now()
		m, err = n.j.Join(ctx, journal.Node{Name: n.o.Name, Routes: n.routes, Lease: n.o.Lease})
		return err
	})
	if ctx.Err() != nil && m == nil {
		return nil
	}
	if err != nil {
		return err
	}
	inc := newIncarnation(n, m)
	n.current.Store(inc)
	n.tel.log.InfoContext(ctx, "node joined", keyNode, inc.id, keyNodeName, n.o.Name)
	inc.begin(sent.Add(n.o.Lease))
	select {
	case <-ctx.Done():
		return inc.drain()
	case <-inc.lost:
		return inc.die()
	}
}

func defaultName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
