package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	collect  workflow.Name[int, []int]            = "collect"
	waiter   workflow.Name[string, string]        = "waiter"
	number   workflow.Signal[int]                 = "number"
	approved workflow.Signal[string]              = "approved"
	sleeper  workflow.Name[time.Duration, string] = "sleeper"
)

// collecting receives n numbers and returns them in order.
func collecting(ctx workflow.Context, n int) ([]int, error) {
	var got []int
	for len(got) < n {
		v, err := number.Receive(ctx)
		if err != nil {
			return nil, err
		}
		got = append(got, v)
	}
	return got, nil
}

func handleCollect(n *runtime.Node) { runtime.Handle(n, collect, collecting, nil) }

// Signals sent before anyone waits, before the run even has a node, arrive in order.
func TestSignalsAreBufferedBeforeAnyoneWaits(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(ctx, client, collect, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for i := range 50 {
		want = append(want, i)
		if err := runtime.Signal(ctx, client, run.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Run(nil, handleCollect)
	got, err := run.Result(ctx)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
}

// J5, J6: numbered signals against a run that parks between them, over two nodes: each once, in
// order.
func TestEverySignalOnceAndInOrder(t *testing.T) {
	c := clustertest.New(t)
	c.Run(nil, handleCollect)
	c.Run(nil, handleCollect)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	const n = 300
	run, err := runtime.Start(ctx, client, collect, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for range 2 { // the second is a duplicate
			if err := runtime.Signal(ctx, client, run.ID(), number, i, &runtime.SignalOptions{Key: fmt.Sprint(i)}); err != nil && !errors.Is(err, journal.ErrClosed) {
				t.Fatal(err)
			}
		}
	}
	got, err := run.Result(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != i {
			t.Fatalf("signal %d came at position %d", v, i)
		}
	}
}

func TestSignalTimeout(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			v, ok, err := approved.ReceiveTimeout(ctx, 50*time.Millisecond)
			if err != nil {
				return "", err
			}
			if !ok {
				return "timeout", nil
			}
			return v, nil
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "timeout" {
		t.Fatalf("got %q, %v", got, err)
	}
	// A signal to a closed run changes nothing.
	if err := runtime.Signal(ctx, n.Client(), run.ID(), approved, "late", nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("signal after the end: %v, want ErrClosed", err)
	}
	if err := runtime.Signal(ctx, n.Client(), journal.NewRunID(), approved, "x", nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("signal to nobody: %v, want ErrNotFound", err)
	}
}

// A signal reaches a run whose node is busy in a step, on another node, promptly.
func TestSignalDuringAStep(t *testing.T) {
	c := clustertest.New(t)
	inStep, release := make(chan struct{}), make(chan struct{})
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			slow := workflow.StepAsync(ctx, "slow", func(context.Context) (string, error) {
				close(inStep)
				<-release
				return "done", nil
			}, nil)
			v, err := approved.Receive(ctx)
			if err != nil {
				return "", err
			}
			if _, err := workflow.Step(ctx, "let go", func(context.Context) (string, error) { close(release); return "", nil }, nil); err != nil {
				return "", err
			}
			s, err := slow.Get(ctx)
			return v + s, err
		}, nil)
	})
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(ctx, client, waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-inStep
	if err := runtime.Signal(ctx, client, run.ID(), approved, "yes ", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "yes done" {
		t.Fatalf("got %q, %v", got, err)
	}
}

// A run that is cancelled while it sleeps cleans up in a shielded scope and ends as cancelled.
func TestCancelWhileSleepingCleansUp(t *testing.T) {
	c := clustertest.New(t)
	cleaned := make(chan struct{}, 2)
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, sleeper, func(ctx workflow.Context, d time.Duration) (string, error) {
			defer func() {
				_, _ = workflow.Step(workflow.Shield(ctx), "clean up", func(context.Context) (int, error) { cleaned <- struct{}{}; return 0, nil }, nil)
			}()
			return "slept", workflow.Sleep(ctx, d)
		}, nil)
	})
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(ctx, client, sleeper, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the run is parked", func() bool {
		d, err := client.Describe(ctx, run.ID())
		return err == nil && len(d.Timers) == 1 && d.Run.Task.Owner == 0
	})
	for range 2 {
		if err := client.Cancel(ctx, run.ID(), "changed my mind"); err != nil && !errors.Is(err, journal.ErrClosed) {
			t.Fatal(err)
		}
	}
	_, err = run.Result(ctx)
	clustertest.WantError[*runtime.CancelledError](t, err)
	if !errors.Is(err, workflow.ErrCancelled) {
		t.Errorf("%v is not ErrCancelled", err)
	}
	if len(cleaned) != 1 {
		t.Errorf("cleaned up %d times", len(cleaned))
	}
}

// The context of a running step is cancelled, with the cause, and what the step then says counts.
func TestCancelReachesARunningStep(t *testing.T) {
	c := clustertest.New(t)
	began := make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "long", func(ctx context.Context) (string, error) {
				close(began)
				<-ctx.Done()
				return "", context.Cause(ctx)
			}, nil)
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := n.Client().Cancel(ctx, run.ID(), "stop"); err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	clustertest.WantError[*runtime.CancelledError](t, err)
}

func TestTerminate(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleCollect)
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), collect, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Client().Terminate(ctx, run.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	if e := clustertest.WantError[*runtime.TerminatedError](t, err); e.Reason != "enough" {
		t.Errorf("reason %q", e.Reason)
	}
}

func TestResultOfNobody(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	_, err := runtime.RunOf(client, collect, journal.NewRunID()).Result(clustertest.Context(t))
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestResultWaitEndsWithItsContext(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(clustertest.Context(t), client, collect, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := run.Result(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}

// Timers fire by the store's clock, whichever node is there.
func TestTimerMovesToAnotherNode(t *testing.T) {
	c := clustertest.New(t)
	register := func(n *runtime.Node) {
		runtime.Handle(n, sleeper, func(ctx workflow.Context, d time.Duration) (string, error) {
			before := ctx.Now()
			if err := workflow.Sleep(ctx, d); err != nil {
				return "", err
			}
			if slept := ctx.Now().Sub(before); slept < d {
				return "", fmt.Errorf("slept %s of %s", slept, d)
			}
			return "slept", nil
		}, nil)
	}
	a := c.Run(nil, register)
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, a.Client(), sleeper, 500*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the run is parked", func() bool {
		d, err := a.Client().Describe(ctx, run.ID())
		return err == nil && len(d.Timers) == 1
	})
	a.Stop()
	c.Run(nil, register)
	if got, err := run.Result(ctx); err != nil || got != "slept" {
		t.Fatalf("got %q, %v", got, err)
	}
}
