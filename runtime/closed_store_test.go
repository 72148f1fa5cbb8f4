package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestClosedStore: whoever waits for a store that its own program has closed is told so, although
// nothing bounds the wait: callers, and the node.
func TestClosedStore(t *testing.T) {
	c := clustertest.New(t)
	store := c.Store(c.DSN, nil)
	j := journal.New(store, &journal.Options{Logger: c.Options().Logger})
	n := runtime.NewNode(j, c.Options())
	hang := make(chan struct{})
	runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
		workflow.Update[string, string]("ask").Handle(ctx, func(ctx workflow.Context, in string) (string, error) { return approved.Receive(ctx) }, nil)
		return approved.Receive(ctx)
	}, nil)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(context.Background()) }()
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	ctx := context.Background()
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	away := runtime.NewClient(j, nil)
	update, err := runtime.SendUpdate(ctx, away, run.ID(), workflow.Update[string, string]("ask"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	waits := map[string]func() error{
		"result":           func() error { _, err := run.Result(ctx); return err },
		"result elsewhere": func() error { _, err := runtime.RunOf(away, waiter, run.ID()).Result(ctx); return err },
		"update":           func() error { _, err := update.Result(ctx); return err },
		"start":            func() error { <-hang; _, err := runtime.Start(ctx, n.Client(), waiter, "", nil); return err },
		"signal":           func() error { <-hang; return runtime.Signal(ctx, away, run.ID(), approved, "", nil) },
		"cancel":           func() error { <-hang; return away.Cancel(ctx, run.ID(), "") },
	}
	type outcome struct {
		what string
		err  error
	}
	outcomes := make(chan outcome, len(waits)+1)
	for what, wait := range waits {
		go func() { outcomes <- outcome{what, wait()} }()
	}
	clustertest.Parked(t, runtime.NewClient(c.Journal, nil), run.ID())
	store.Close()
	close(hang)
	go func() { outcomes <- outcome{"the node", <-ended} }()
	patience := clustertest.Context(t)
	for range cap(outcomes) {
		select {
		case o := <-outcomes:
			if !errors.Is(o.err, journal.ErrStoreClosed) || errors.Is(o.err, journal.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrStoreClosed", o.what, o.err)
			}
		case <-patience.Done():
			t.Fatal("somebody still waits for a closed store")
		}
	}
}
