package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

func step(ctx workflow.Context, name string) error {
	_, err := workflow.Step(ctx, name, func(context.Context) (int, error) { return 0, nil }, nil)
	return err
}

// Code that diverges from a run's history blocks the run, with an error that says where; a node
// with the old code goes on.
func TestDivergenceBlocksUntilGoodCodeComes(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	good := func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			if err := step(ctx, "reserve"); err != nil {
				return "", err
			}
			return approved.Receive(ctx)
		}, nil)
	}
	a := c.Run(nil, good)
	run, err := runtime.Start(ctx, a.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the run waits for the signal", func() bool {
		d, err := a.Client().Describe(ctx, run.ID())
		return err == nil && len(d.Waiting) > 0
	})
	a.Stop()
	bad := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			if err := step(ctx, "charge"); err != nil {
				return "", err
			}
			return approved.Receive(ctx)
		}, nil)
	})
	if err := runtime.Signal(ctx, bad.Client(), run.ID(), approved, "go", nil); err != nil {
		t.Fatal(err)
	}
	var d *runtime.Description
	clustertest.Until(t, "the run is blocked", func() bool {
		d, err = bad.Client().Describe(ctx, run.ID())
		return err == nil && d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	for _, want := range []string{"reserve", "charge", "blocked_test.go"} {
		if !strings.Contains(d.Run.Task.Problem, want) {
			t.Errorf("the problem does not name %q: %s", want, d.Run.Task.Problem)
		}
	}
	if d.Run.Status != journal.Open {
		t.Errorf("status %s: divergence must not end a run", d.Run.Status)
	}
	for what, client := range map[string]*runtime.Client{"the node's client": bad.Client(), "another client": runtime.NewClient(c.Journal, nil)} {
		clustertest.Until(t, what+" hears that the run is blocked", func() bool { // a store that is slow may not say so in time
			short, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
			defer cancel()
			_, err := runtime.RunOf(client, waiter, run.ID()).Result(short)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: %v", what, err)
			}
			return errors.Is(err, runtime.ErrBlocked) && strings.Contains(err.Error(), d.Run.Task.Problem)
		})
	}
	bad.Stop()
	c.Run(nil, good)
	if got, err := run.Result(ctx); err != nil || got != "go" {
		t.Fatalf("got %q, %v", got, err)
	}
}

// A panic in workflow code blocks the run; it goes on when the code is repaired. The node goes on
// as well.
func TestPanicInWorkflowCodeBlocks(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var panics atomic.Int32
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			if err := step(ctx, "first"); err != nil {
				return "", err
			}
			if panics.Add(1) == 1 {
				panic("a bug of the day")
			}
			return in, nil
		}, nil)
		handleCollect(n)
	})
	run, err := runtime.Start(ctx, n.Client(), greet, "mended", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "mended" {
		t.Fatalf("got %q, %v", got, err)
	}
	if !strings.Contains(c.Log.String(), "a bug of the day") {
		t.Error("the log does not mention the panic")
	}
}

// Workflow code that does not await is reported with its stack, and other runs go on.
func TestCodeThatDoesNotAwaitIsReported(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.StuckAfter = 20 * time.Millisecond
	release := make(chan struct{})
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			<-release // a mistake: workflow code must not block
			return in, nil
		}, nil)
		handleEcho(n)
	})
	stuck, err := runtime.Start(ctx, n.Client(), waiter, "free", nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the stuck run is reported", func() bool {
		return strings.Contains(c.Log.String(), "does not await") && strings.Contains(c.Log.String(), "blocked_test.go")
	})
	other, err := runtime.Start(ctx, n.Client(), greet, "fine", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Result(ctx); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got, err := stuck.Result(ctx); err != nil || got != "free" {
		t.Fatalf("got %q, %v", got, err)
	}
}

// lockedCodec cannot decode while locked, as when an encryption key is away.
type lockedCodec struct {
	journal.JSON
	locked *atomic.Bool
}

func (c lockedCodec) Decode(p journal.Payload, v any) error {
	if c.locked.Load() {
		return errors.New("the key is away")
	}
	return c.JSON.Decode(p, v)
}

// Payloads that cannot be decoded for a while block the run, and it goes on when the key is back.
func TestUndecodablePayloadBlocks(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	codec := lockedCodec{locked: new(atomic.Bool)}
	codec.locked.Store(true)
	j := c.Open(&journal.Options{Codec: codec})
	n := c.RunOn(j, nil, handleEcho)
	run, err := runtime.Start(ctx, n.Client(), greet, "secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the run is blocked", func() bool {
		d, err := n.Client().Describe(ctx, run.ID())
		return err == nil && d.Run.Task != nil && d.Run.Task.State == journal.Blocked && strings.Contains(d.Run.Task.Problem, "the key is away")
	})
	codec.locked.Store(false)
	if got, err := run.Result(ctx); err != nil || got != "secret" {
		t.Fatalf("got %q, %v", got, err)
	}
}
