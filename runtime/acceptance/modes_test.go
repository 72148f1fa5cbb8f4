package acceptance_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// resolved is how a future ended, and when, by the workflow's clock.
func resolved[T any](ctx workflow.Context, f workflow.Future[T], began time.Time) string {
	_, err := f.Get(ctx)
	return fmt.Sprintf("%s after %s", end(err), ctx.Now().Sub(began))
}

// TestCancelModesOfChildren: a scope is cancelled after a minute. The cancel mode of a child
// decides when its future resolves, and whether the child is cancelled. An outcome that nobody
// waits for is dropped.
func TestCancelModesOfChildren(t *testing.T) {
	for _, tc := range []struct {
		mode    workflow.CancelMode
		want    string
		status  journal.Status
		asked   int
		dropped int
	}{
		{workflow.WaitOutcome, "cancelled after 11m0s", journal.Cancelled, 1, 0},
		{workflow.TryCancel, "cancelled after 1m0s", journal.Cancelled, 1, 1},
		{workflow.Abandon, "cancelled after 1m0s", journal.Completed, 0, 1},
	} {
		t.Run(fmt.Sprint("mode ", tc.mode), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) {
					err := workflow.Sleep(ctx, time.Hour)
					if err != nil {
						return "", errors.Join(err, workflow.Sleep(workflow.Shield(ctx), 10*time.Minute))
					}
					return in, nil
				}, nil)
				runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
					began := ctx.Now()
					scope, cancel := workflow.WithCancel(ctx)
					c := workflow.CallAsync(scope, leaf, in, &workflow.ChildOptions{OnCancel: tc.mode})
					if err := workflow.Sleep(ctx, time.Minute); err != nil {
						return "", err
					}
					cancel()
					got := resolved(ctx, c.Future, began)
					return got, workflow.Sleep(ctx, 24*time.Hour)
				}, nil)
				run := runtimetest.Start(e, root, "x", nil)
				if got := run.Must(); got != tc.want {
					e.Errorf("%s, want %s", got, tc.want)
				}
				child := onlyChild(e, run.ID(), "leaf")
				wantStatus(e, child, tc.status)
				if n := events(e, child, journal.CancelRequested); n != tc.asked {
					e.Errorf("the child was asked %d times, want %d", n, tc.asked)
				}
				if n := events(e, run.ID(), journal.MessageDropped); n != tc.dropped {
					e.Errorf("%d outcomes were dropped, want %d", n, tc.dropped)
				}
			})
		})
	}
}

// TestCancelledParentLeavesAbandonedChild: an abandoned child continues when its parent is
// cancelled, and completes after the parent.
func TestCancelledParentLeavesAbandonedChild(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Call(ctx, leaf, in, &workflow.ChildOptions{OnCancel: workflow.Abandon, OnParentClose: workflow.CloseAbandon})
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.After(time.Minute, func() { e.Cancel(run.ID(), "enough") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("ended with %v", err)
		}
		child := onlyChild(e, run.ID(), "leaf")
		wantStatus(e, child, journal.Open)
		e.Sleep(2 * time.Hour)
		wantStatus(e, child, journal.Completed)
		if events(e, child, journal.CancelRequested) != 0 {
			e.Error("the child was asked to end")
		}
	})
}

// TestCancelOfAChildThatCouldNotStart: a child fails because its key is taken. A cancellation in
// the same turn or later changes nothing: the parent receives the failure of the start, once.
func TestCancelOfAChildThatCouldNotStart(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		t.Run(fmt.Sprint("at once ", atOnce), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, leaf, sleepThenNote, nil)
				runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
					scope, cancel := workflow.WithCancel(ctx)
					c := workflow.CallAsync(scope, leaf, in, &workflow.ChildOptions{Key: "taken"})
					if !atOnce {
						if err := workflow.Sleep(ctx, time.Minute); err != nil {
							return "", err
						}
					}
					cancel()
					_, err := c.Get(ctx)
					return end(err), workflow.Sleep(ctx, time.Minute)
				}, nil)
				other := runtimetest.Start(e, leaf, "other", &runtime.StartOptions{Key: "taken"})
				run := runtimetest.Start(e, root, "x", nil)
				if got := run.Must(); got != "key exists" {
					e.Errorf("got %s", got)
				}
				if n := events(e, run.ID(), journal.ChildFailed); n != 1 || len(childrenOf(e, run.ID())) != 0 {
					e.Errorf("%d failures, %d children", n, len(childrenOf(e, run.ID())))
				}
				if got := other.Must(); got != "other" { // it has nothing to do with the child
					e.Errorf("the other run: %s", got)
				}
			})
		})
	}
}

// TestTerminatedFamily: when a run is terminated, its children end by their close policy: with
// their own clean-up, terminated with their own children, or not at all.
func TestTerminatedFamily(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, middle, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Call(ctx, leaf, "below", &workflow.ChildOptions{OnParentClose: workflow.CloseTerminate})
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			workflow.CallAsync(ctx, leaf, "cancelled", nil)
			workflow.CallAsync(ctx, middle, "terminated", &workflow.ChildOptions{OnParentClose: workflow.CloseTerminate})
			workflow.CallAsync(ctx, leaf, "abandoned", &workflow.ChildOptions{OnParentClose: workflow.CloseAbandon})
			return in, workflow.Sleep(ctx, 24*time.Hour)
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		lonely := runtimetest.Start(e, leaf, "lonely", nil)
		e.Sleep(time.Minute)
		for _, id := range []journal.RunID{run.ID(), lonely.ID()} {
			if err := e.Client().Terminate(e.Context(), id, "operator"); err != nil {
				e.Fatal(err)
			}
		}
		for _, r := range []*runtimetest.Run[string]{run, lonely} {
			if _, err := r.Result(); err == nil {
				e.Error("a terminated run has a result")
			}
			wantStatus(e, r.ID(), journal.Terminated)
		}
		e.Sleep(2 * time.Hour)
		terminated := onlyChild(e, run.ID(), "middle")
		wantStatus(e, terminated, journal.Terminated)
		wantStatus(e, onlyChild(e, terminated, "leaf"), journal.Terminated)
		ends := map[journal.Status]int{}
		for _, c := range childrenOf(e, run.ID()) {
			ends[c.Status]++
		}
		if ends[journal.Cancelled] != 1 || ends[journal.Completed] != 1 || ends[journal.Terminated] != 1 {
			e.Errorf("ends of the children: %v", ends)
		}
		if keysOf(e, "clean cancelled") != 1 || keysOf(e, "clean below")+keysOf(e, "clean lonely")+keysOf(e, "clean abandoned") != 0 {
			e.Error("clean-up of a run that was terminated or abandoned, or none of the cancelled one")
		}
	})
}

// TestTerminatedChild: a child is terminated. Its parent receives that and continues.
func TestTerminatedChild(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			_, err := workflow.Call(ctx, leaf, in, nil)
			return end(err), note(ctx, "go on")
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.Sleep(time.Minute)
		if err := e.Client().Terminate(e.Context(), onlyChild(e, run.ID(), "leaf"), "operator"); err != nil {
			e.Fatal(err)
		}
		if got := run.Must(); got != "terminated" || keysOf(e, "clean x") != 0 || e.Elapsed() > 2*time.Minute {
			e.Errorf("got %s after %s", got, e.Elapsed())
		}
	})
}
