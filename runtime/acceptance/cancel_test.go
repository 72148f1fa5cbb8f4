package acceptance_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestCancelBeforeTheStart: a run is cancelled before its delay is over. When it starts, it
// executes no step and waits for no timer, and a child that it starts is cancelled at once.
func TestCancelBeforeTheStart(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			child := workflow.CallAsync(ctx, leaf, "child", nil)
			step := workflow.StepAsync(ctx, "work", workOnce, nil)
			slept := workflow.Sleep(ctx, time.Hour)
			_, childErr := child.Get(ctx)
			_, stepErr := step.Get(ctx)
			if end(slept) != "cancelled" || end(childErr) != "cancelled" || end(stepErr) != "cancelled" {
				return "", fmt.Errorf("ends: %w, %w, %w", slept, childErr, stepErr)
			}
			if err := note(ctx, "more"); end(err) != "cancelled" {
				return "", fmt.Errorf("a step in a cancelled scope: %w", err)
			}
			return "", slept
		}, nil)
		runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) { return in, note(ctx, "work") }, nil)
		run := runtimetest.Start(e, root, "x", &runtime.StartOptions{Delay: time.Minute})
		e.Cancel(run.ID(), "not needed")
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) || !strings.Contains(err.Error(), "not needed") {
			e.Errorf("ended with %v", err)
		}
		if len(e.Calls("work"))+len(e.Calls("more")) != 0 || e.Elapsed() > time.Minute {
			e.Errorf("something was executed, or waited for: %s", e.Elapsed())
		}
		for _, c := range childrenOf(e, run.ID()) {
			wantStatus(e, c.ID, journal.Cancelled)
		}
	})
}

// TestChildCancelledBeforeItsStart: a child is cancelled before its delay is over. It does nothing,
// and its parent receives the cancellation.
func TestChildCancelledBeforeItsStart(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) { return in, note(ctx, "work") }, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			c := workflow.CallAsync(ctx, leaf, in, &workflow.ChildOptions{Delay: 24 * time.Hour})
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				return "", err
			}
			first, second := c.Cancel(), c.Cancel()
			_, err := c.Get(ctx)
			return fmt.Sprint(first, second, c.Cancel(), " ", end(err)), nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		if got := run.Must(); got != "true false false cancelled" {
			e.Errorf("got %q", got)
		}
		wantStatus(e, onlyChild(e, run.ID(), "leaf"), journal.Cancelled)
		if len(e.Calls("work")) != 0 {
			e.Error("the child did something")
		}
	})
}

// TestCancelAgainDuringTheCleanUp: a run that sleeps is cancelled several times, before its
// clean-up and during it. Only the first request counts, and each step of the clean-up runs once.
func TestCancelAgainDuringTheCleanUp(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				clean := workflow.Shield(ctx)
				if e := errors.Join(note(clean, "clean"), workflow.Sleep(clean, time.Hour), note(clean, "tidy")); e != nil {
					return "", e
				}
				return "", err
			}
			return in, nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		for _, at := range []time.Duration{10, 10, 20, 40} {
			e.After(at*time.Minute, func() { e.Cancel(run.ID(), "again") })
		}
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("ended with %v", err)
		}
		if n := events(e, run.ID(), journal.CancelRequested); n != 1 {
			e.Errorf("%d cancel requests are in the history", n)
		}
		if keysOf(e, "clean") != 1 || keysOf(e, "tidy") != 1 {
			e.Errorf("cleaned %d times, tidied %d times", keysOf(e, "clean"), keysOf(e, "tidy"))
		}
	})
}

// TestCancelTogetherWithTheEnd: a run is cancelled in the moment its last child ends, long after
// its first child has ended. Both orders are right. There is one outcome, the code sees it, and the
// child that has ended stays completed.
func TestCancelTogetherWithTheEnd(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			first := workflow.CallAsync(ctx, leaf, "first", nil)
			second := workflow.CallAsync(ctx, leaf, "second", &workflow.ChildOptions{Delay: time.Hour})
			_, err := first.Get(ctx)
			_, later := second.Get(ctx)
			if err != nil {
				return "", fmt.Errorf("the first ended with %v", err)
			}
			return end(later), later
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.After(2*time.Hour, func() {
			if err := e.Client().Cancel(e.Context(), run.ID(), "late"); err != nil && !errors.Is(err, journal.ErrClosed) {
				e.Error(err)
			}
		})
		got, err := run.Result()
		switch {
		case err == nil && got == "completed" && keysOf(e, "clean second") == 0:
		case errors.Is(err, workflow.ErrCancelled) && keysOf(e, "clean second") == 1:
		default:
			e.Errorf("got %q, %v; cleaned up %d times", got, err, keysOf(e, "clean second"))
		}
	})
}

// TestCancelOfWhatHasEnded: cancelling a timer, a step or a child that has ended does nothing,
// alone or with its scope, once or twice. No command is issued for it.
func TestCancelOfWhatHasEnded(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) { return in, nil }, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			outer, cancelOuter := workflow.WithCancel(ctx)
			inner, cancelInner := workflow.WithCancel(outer)
			timer := workflow.NewTimer(inner, time.Minute)
			step := workflow.StepAsync(inner, "work", workOnce, nil)
			child := workflow.CallAsync(inner, leaf, "x", nil)
			apart := workflow.NewTimer(workflow.Shield(inner), 2*time.Minute)
			if err := errors.Join(timer.Get(ctx), timer.Get(inner)); err != nil {
				return "", err
			}
			if !step.Ready() || !child.Ready() || timer.Stop() || child.Cancel() {
				return "", errors.New("something is still open")
			}
			for range 2 {
				cancelInner()
				cancelOuter()
			}
			_, stepErr := step.Get(inner)
			_, childErr := child.Get(inner)
			return fmt.Sprint(end(stepErr), " ", end(childErr), " ", end(apart.Get(ctx)), " ", end(inner.Err())), nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		if got := run.Must(); got != "completed completed completed cancelled" {
			e.Errorf("got %q", got)
		}
		for _, ev := range e.History(run.ID()).Events {
			for _, c := range ev.Issued {
				if c.Kind == journal.CommandCancel {
					e.Errorf("event %d issued %s", ev.Seq, c)
				}
			}
		}
	})
}

// TestCancelledFamilyCleansUp: the cancellation of a root run reaches its grandchild at once. Each
// of the three cleans up, the one in the middle with a child of its own, and no run stays open.
func TestCancelledFamilyCleansUp(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, middle, func(ctx workflow.Context, in string) (string, error) {
			out, err := workflow.Call(ctx, leaf, "leaf", nil)
			if err == nil {
				return out, nil
			}
			clean := workflow.Shield(ctx)
			_, tidy := workflow.Call(clean, item, 1, nil)
			return "", errors.Join(err, tidy, note(clean, "clean middle"))
		}, nil)
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			return n, errors.Join(workflow.Sleep(ctx, time.Minute), note(ctx, "tidy"))
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			out, err := workflow.Call(ctx, middle, in, nil)
			if err != nil {
				return "", errors.Join(err, note(workflow.Shield(ctx), "clean root"))
			}
			return out, nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.After(time.Minute, func() { e.Cancel(run.ID(), "no more") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) || strings.Count(err.Error(), "cancelled: no more") != 1 {
			e.Errorf("ended with %v", err)
		}
		if got := e.Elapsed(); got > 3*time.Minute {
			e.Errorf("it took %s", got)
		}
		below := onlyChild(e, run.ID(), "middle")
		wantStatus(e, below, journal.Cancelled)
		wantStatus(e, onlyChild(e, below, "leaf"), journal.Cancelled)
		wantStatus(e, onlyChild(e, below, "item"), journal.Completed)
		for _, step := range []string{"clean leaf", "tidy", "clean middle", "clean root"} {
			if keysOf(e, step) != 1 {
				e.Errorf("step %q: %d times", step, keysOf(e, step))
			}
		}
	})
}

// TestCancelOfChildrenInEveryState: a parent is cancelled while of its twenty children some have
// completed, some have failed, some run and some have not started. Each child ends once, and the
// parent receives each outcome once.
func TestCancelOfChildrenInEveryState(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			switch n % 4 {
			case 0:
				return n, nil
			case 1:
				return 0, workflow.Permanent(fmt.Errorf("item %d is bad", n))
			}
			return n, workflow.Sleep(ctx, time.Hour)
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			var children []workflow.Child[int]
			for n := range 20 {
				o := &workflow.ChildOptions{}
				if n%4 == 3 {
					o.Delay = 24 * time.Hour
				}
				children = append(children, workflow.CallAsync(ctx, item, n, o))
			}
			ends := map[string]int{}
			for _, c := range children {
				_, err := c.Get(ctx)
				ends[end(err)]++
			}
			if ctx.Err() == nil || ends["completed"] != 5 || ends["failed"] != 5 || ends["cancelled"] != 10 {
				return "", fmt.Errorf("ends: %v", ends)
			}
			return "", ctx.Err()
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.After(time.Minute, func() { e.Cancel(run.ID(), "no more") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("ended with %v", err)
		}
		want := []journal.Status{journal.Completed, journal.Failed, journal.Cancelled, journal.Cancelled}
		children := childrenOf(e, run.ID())
		for _, c := range children {
			var n int
			if err := (journal.JSON{}).Decode(c.Input, &n); err != nil {
				e.Fatal(err)
			}
			if c.Status != want[n%4] {
				e.Errorf("child %d is %s, want %s", n, c.Status, want[n%4])
			}
		}
		if n := events(e, run.ID(), journal.ChildCompleted) + events(e, run.ID(), journal.ChildFailed); n != 20 || len(children) != 20 {
			e.Errorf("%d outcomes of %d children", n, len(children))
		}
	})
}

// TestCancelOfChildAndThenOfItsParent: a signal makes the parent cancel its child; then the parent
// is cancelled, at once, while the child cleans up, or after the child has ended. The child
// receives one request.
func TestCancelOfChildAndThenOfItsParent(t *testing.T) {
	for _, after := range []time.Duration{0, time.Minute, time.Hour} {
		t.Run(after.String(), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) {
					err := workflow.Sleep(ctx, 24*time.Hour)
					return in, errors.Join(err, workflow.Sleep(workflow.Shield(ctx), 10*time.Minute), note(workflow.Shield(ctx), "clean"))
				}, nil)
				runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
					scope, cancel := workflow.WithCancel(ctx)
					c := workflow.CallAsync(scope, leaf, in, nil)
					if _, err := halt.Receive(ctx); err != nil {
						return "", err
					}
					cancel()
					if _, err := c.Get(ctx); end(err) != "cancelled" {
						return "", fmt.Errorf("the child: %w", err)
					}
					return in, workflow.Sleep(ctx, 24*time.Hour)
				}, nil)
				run := runtimetest.Start(e, root, "x", nil)
				e.After(time.Minute, func() {
					runtimetest.Signal(e, run.ID(), halt, "stop", &runtime.SignalOptions{Key: "stop"})
					if after == 0 {
						e.Cancel(run.ID(), "at once")
					}
				})
				if after > 0 {
					e.After(time.Minute+after, func() { e.Cancel(run.ID(), "later") })
				}
				if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
					e.Errorf("ended with %v", err)
				}
				child := onlyChild(e, run.ID(), "leaf")
				wantStatus(e, child, journal.Cancelled)
				if events(e, child, journal.CancelRequested) != 1 || keysOf(e, "clean") != 1 {
					e.Errorf("asked %d times, cleaned up %d times", events(e, child, journal.CancelRequested), keysOf(e, "clean"))
				}
			})
		})
	}
}
