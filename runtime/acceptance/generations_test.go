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

// TestLateChildOfAnEarlierGeneration: the first generation starts a child and continues as new. The
// second starts another child, with the same command number. The outcome of the first child arrives
// meanwhile: it is dropped and not taken for the second child's.
func TestLateChildOfAnEarlierGeneration(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, hours int) (int, error) {
			return hours, workflow.Sleep(ctx, time.Duration(hours)*time.Hour)
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			if in == "first" {
				workflow.CallAsync(ctx, item, 1, nil)
				return "", workflow.ContinueAsNew(ctx, root, "second", nil)
			}
			hours, err := workflow.Call(ctx, item, 5, nil)
			return fmt.Sprint(in, " ", hours), err
		}, nil)
		run := runtimetest.Start(e, root, "first", nil)
		if got := run.Must(); got != "second 5" || e.Elapsed().Round(time.Minute) != 5*time.Hour {
			e.Errorf("got %s after %s", got, e.Elapsed())
		}
		children := childrenOf(e, run.ID())
		if len(children) != 2 {
			e.Fatalf("%d children", len(children))
		}
		for _, c := range children {
			wantStatus(e, c.ID, journal.Completed)
		}
		if events(e, run.ID(), journal.MessageDropped) != 1 || events(e, run.ID(), journal.ChildCompleted) != 1 {
			e.Errorf("history: %s", e.History(run.ID()))
		}
	})
}

// TestChildrenOfEarlierGenerationsEndWithTheRun: continue-as-new closes no child. When the run
// closes, the close policy applies to the open children of all its generations.
func TestChildrenOfEarlierGenerationsEndWithTheRun(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			if n < 3 {
				policy := []workflow.ClosePolicy{workflow.CloseCancel, workflow.CloseTerminate, workflow.CloseAbandon}[n]
				workflow.CallAsync(ctx, leaf, fmt.Sprint(n), &workflow.ChildOptions{OnParentClose: policy})
				if err := workflow.Sleep(ctx, time.Minute); err != nil {
					return 0, err
				}
				return 0, workflow.ContinueAsNew(ctx, item, n+1, nil)
			}
			return n, workflow.Sleep(ctx, time.Minute)
		}, nil)
		run := runtimetest.Start(e, item, 0, nil)
		e.Sleep(210 * time.Second)
		children := childrenOf(e, run.ID())
		for _, c := range children {
			wantStatus(e, c.ID, journal.Open)
		}
		run.Must()
		e.Sleep(2 * time.Hour)
		if len(children) != 3 {
			e.Fatalf("%d children", len(children))
		}
		for i, want := range []journal.Status{journal.Cancelled, journal.Terminated, journal.Completed} {
			wantStatus(e, children[i].ID, want)
		}
	})
}

// TestKeyOfAChildAcrossGenerations: an open child keeps its key, also from the next generation of
// its own parent.
func TestKeyOfAChildAcrossGenerations(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			c := workflow.CallAsync(ctx, leaf, in, &workflow.ChildOptions{Key: "the only", Reuse: workflow.ReuseAllow})
			if in == "first" {
				return "", workflow.ContinueAsNew(ctx, root, "second", nil)
			}
			_, err := c.Get(ctx)
			if err := workflow.Sleep(ctx, 2*time.Hour); err != nil {
				return "", err
			}
			_, again := workflow.Call(ctx, leaf, in, &workflow.ChildOptions{Key: "the only", Reuse: workflow.ReuseAllow})
			return end(err) + ", " + end(again), nil
		}, nil)
		if got := runtimetest.Start(e, root, "first", nil).Must(); got != "key exists, completed" {
			e.Errorf("got %s", got)
		}
	})
}

// TestCancelPassesOnToTheNextGeneration: a run that continues as new although it was cancelled is
// cancelled in its next generation as well. A child that continues as new still reports to the
// parent that called it.
func TestCancelPassesOnToTheNextGeneration(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			err := workflow.Sleep(ctx, time.Hour)
			if n < 3 {
				return 0, workflow.ContinueAsNew(workflow.Shield(ctx), item, n+1, nil)
			}
			return n, err
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			n, err := workflow.Call(ctx, item, 0, nil)
			return fmt.Sprint(n), err
		}, nil)
		patient, cancelled := runtimetest.Start(e, root, "x", nil), runtimetest.Start(e, root, "y", nil)
		e.After(90*time.Minute, func() { e.Cancel(cancelled.ID(), "enough") })
		if _, err := cancelled.Result(); !errors.Is(err, workflow.ErrCancelled) || e.Elapsed().Round(time.Minute) != 90*time.Minute {
			e.Errorf("ended with %v after %s", err, e.Elapsed())
		}
		child := onlyChild(e, cancelled.ID(), "item")
		wantStatus(e, child, journal.Cancelled)
		if h := e.History(child); h.Run.Generation != 4 {
			e.Errorf("the child ended in generation %d", h.Run.Generation)
		}
		if got := patient.Must(); got != "3" || e.Elapsed().Round(time.Minute) != 4*time.Hour {
			e.Errorf("got %s after %s", got, e.Elapsed())
		}
	})
}

// TestTerminatedChildInALaterGeneration: a child that continued as new is terminated by an
// operator. Its parent receives that.
func TestTerminatedChildInALaterGeneration(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				return 0, err
			}
			return 0, workflow.ContinueAsNew(ctx, item, n+1, nil)
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			_, err := workflow.Call(ctx, item, 0, nil)
			return end(err), nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		e.Sleep(150 * time.Minute)
		if err := e.Client().Terminate(e.Context(), onlyChild(e, run.ID(), "item"), "operator"); err != nil {
			e.Fatal(err)
		}
		if got := run.Must(); got != "terminated" {
			e.Errorf("got %s", got)
		}
	})
}

// TestGenerationsMoveToANewVersion: continue-as-new can change the version of the code. Several
// versions run side by side in one process, each run with the version it started with.
func TestGenerationsMoveToANewVersion(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		for v := int32(1); v <= 3; v++ {
			runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
				if ctx.Info().Version != v {
					return "", fmt.Errorf("version %d in the code of %d", ctx.Info().Version, v)
				}
				if err := workflow.Sleep(ctx, time.Hour); err != nil {
					return "", err
				}
				in = fmt.Sprint(in, v)
				if in == "move1" {
					return "", workflow.ContinueAsNew(ctx, root, in, &workflow.ContinueOptions{Version: 3})
				}
				return in, note(ctx, fmt.Sprint("end ", v)) // each version has commands of its own
			}, &runtime.HandleOptions{Version: v})
		}
		move := runtimetest.Start(e, root, "move", nil)
		var others []*runtimetest.Run[string]
		for v := int32(1); v <= 3; v++ {
			others = append(others, runtimetest.Start(e, root, "stay", &runtime.StartOptions{Version: v}))
		}
		if got := move.Must(); got != "move13" {
			e.Errorf("got %s", got)
		}
		for i, run := range others {
			if got := run.Must(); got != fmt.Sprint("stay", i+1) {
				e.Errorf("version %d: %s", i+1, got)
			}
		}
	})
}
