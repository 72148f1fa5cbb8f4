// Command approval asks somebody to approve something, reminds them, and gives up in the end. It
// shows timers and a signal, with days made into seconds.
//
//	go run ./examples/approval
//	go run ./examples/approval -decide 0    # nobody answers
//
// The journal is a SQLite file in a temporary folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
)

func main() {
	r := Request{What: "a week on the island"}
	var after time.Duration
	flag.DurationVar(&r.Remind, "remind", time.Second, "`time` between two reminders")
	flag.DurationVar(&r.Patience, "patience", 5*time.Second, "`time` until the request counts as refused")
	flag.DurationVar(&after, "decide", 2500*time.Millisecond, "`time` until somebody approves; 0 for never")
	flag.Parse()
	if err := run(context.Background(), r, after, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, r Request, after time.Duration, out io.Writer) error {
	dir, err := os.MkdirTemp("", "reprise-approval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "reprise.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()

	o := &office{mail: func(_ context.Context, _, text string) error {
		_, err := fmt.Fprintln(out, "mail:", text)
		return err
	}}
	node := runtime.NewNode(journal.New(store, nil), nil)
	runtime.Handle(node, Approve, o.approve, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains

	started, err := runtime.Start(ctx, node.Client(), Approve, r, nil)
	if err != nil {
		return err
	}
	if after > 0 {
		decide := time.AfterFunc(after, func() {
			err := runtime.Signal(ctx, node.Client(), started.ID(), Decided, Decision{By: "the boss", OK: true}, nil)
			if err != nil {
				fmt.Fprintln(out, "the decision came too late:", err)
			}
		})
		defer decide.Stop()
	}
	result, err := started.Result(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result)
	return nil
}
