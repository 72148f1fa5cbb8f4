package runtimetest_test

import (
	"context"
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

const (
	budget workflow.Name[int, int]          = "budget"
	spend  workflow.Update[int, int]        = "spend"
	left   workflow.Query[string, int]      = "left"
	over   workflow.Signal[string]          = "over"
	misuse workflow.Update[string, string]  = "misuse"
	abuse  workflow.Name[string, string]    = "abuse"
	dice   workflow.Name[struct{}, []int]   = "dice"
	census workflow.Query[string, []string] = "census"
	tree   workflow.Name[int, int]          = "tree"
)

// budgets pay for each update with a child, which is a payment of its own.
func budgets(ctx workflow.Context, amount int) (int, error) {
	left.Handle(ctx, func(string) (int, error) { return amount, nil })
	spend.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
		amount -= v
		if _, err := workflow.Call(ctx, childName, fmt.Sprint(v), nil); err != nil {
			return 0, err
		}
		return amount, nil
	}, &workflow.UpdateOptions[int]{Validate: func(v int) error {
		if v > amount {
			return fmt.Errorf("only %d left", amount)
		}
		return nil
	}})
	if _, err := over.Receive(ctx); err != nil {
		return 0, err
	}
	return amount, workflow.HandlersFinished(ctx)
}

// TestUpdateWithStartAndChildrenWhateverCrashes: starts, updates, children and queries together,
// with the node crashing at every turn.
func TestUpdateWithStartAndChildrenWhateverCrashes(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, budget, budgets, nil)
		runtimetest.Handle(e, childName, greet, nil)
		key := &runtime.StartOptions{Key: "budget"}
		var run *runtimetest.Run[int]
		for i, want := range []int{90, 70} {
			r, h := runtimetest.UpdateWithStart(e, budget, 100, spend, 10*(i+1), key, nil)
			run = r
			if got, err := h.Result(); err != nil || got != want {
				e.Errorf("got %d, %v, want %d", got, err, want)
			}
			if r.Created() != (i == 0) {
				e.Errorf("call %d created: %v", i, r.Created())
			}
		}
		if _, err := runtimetest.Update(e, run.ID(), spend, 71, nil); !errors.Is(err, runtime.ErrRejected) || !strings.Contains(err.Error(), "only 70 left") {
			e.Errorf("got %v", err)
		}
		if got := runtimetest.Query(e, run.ID(), left, ""); got != 70 {
			e.Errorf("%d left", got)
		}
		same := runtimetest.SignalWithStart(e, budget, 5, over, "enough", key, nil)
		if got := same.Must(); got != 70 || same.ID() != run.ID() {
			e.Errorf("got %d of run %s", got, same.ID())
		}
		page, err := e.Client().List(e.Context(), journal.ListFilter{Parent: run.ID()})
		if err != nil || len(page.Runs) != 2 {
			e.Errorf("%d children, %v", len(page.Runs), err)
		}
	})
}

// A handler that wants to continue as new, and a validator that changes the run, are errors of
// their calls; the run goes on.
func TestHandlersThatOverstep(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, abuse, func(ctx workflow.Context, in string) (string, error) {
			misuse.Handle(ctx, func(ctx workflow.Context, v string) (string, error) {
				return "", workflow.ContinueAsNew(ctx, abuse, v, nil)
			}, &workflow.UpdateOptions[string]{Validate: func(v string) error {
				if v == "write" {
					_, err := mail(ctx, "forbidden")
					return err
				}
				if v == "panic" {
					panic("oops")
				}
				return nil
			}})
			return over.Receive(ctx)
		}, nil)
		run := runtimetest.Start(e, abuse, "x", nil)
		for v, want := range map[string]string{
			"again": "to be returned by the workflow's function", "write": workflow.ErrReadOnly.Error(), "panic": "panicked: oops",
		} {
			_, err := runtimetest.Update(e, run.ID(), misuse, v, nil)
			if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, runtime.ErrRejected) != (v != "again") {
				e.Errorf("%s: got %v", v, err)
			}
		}
		runtimetest.Signal(e, run.ID(), over, "done", nil)
		if got := run.Must(); got != "done" {
			e.Errorf("got %q", got)
		}
	})
}

// TestSideEffectsWhateverCrashes: values from outside are kept from the turn on that recorded them,
// and queries see them.
func TestSideEffectsWhateverCrashes(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		rolls := 0
		runtimetest.Handle(e, dice, func(ctx workflow.Context, _ struct{}) ([]int, error) {
			var got []int
			census.Handle(ctx, func(string) ([]string, error) { return strings.Fields(fmt.Sprint(got)), nil })
			for range 3 {
				got = append(got, workflow.SideEffect(ctx, "roll", func() int { rolls++; return rolls }))
				if workflow.Changed(ctx, "rest longer") {
					if err := workflow.Sleep(ctx, time.Hour); err != nil {
						return nil, err
					}
				}
				if _, err := workflow.Step(ctx, "note", func(context.Context) (int, error) { return 1, nil }, nil); err != nil {
					return nil, err
				}
			}
			return got, nil
		}, nil)
		run := runtimetest.Start(e, dice, struct{}{}, nil)
		e.Sleep(150 * time.Minute) // the third roll is recorded, its rest is not over
		before := rolls
		seen := strings.Join(runtimetest.Query(e, run.ID(), census, ""), " ")
		if rolls != before {
			e.Errorf("a query rolled %d times", rolls-before)
		}
		if got := fmt.Sprint(run.Must()); got != seen {
			e.Errorf("got %s, the query saw %s", got, seen)
		}
	})
}

// TestFamilyOfManyGenerations: children of children, each of which continues as new once, crashed
// at every turn.
func TestFamilyOfManyGenerations(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, tree, func(ctx workflow.Context, depth int) (int, error) {
			if depth < 10 && ctx.Info().Generation == 1 {
				return 0, workflow.ContinueAsNew(ctx, tree, depth+10, nil)
			}
			if depth -= 10; depth <= 0 {
				return workflow.Step(ctx, "leaf", func(context.Context) (int, error) { return 1, nil }, nil)
			}
			a := workflow.CallAsync(ctx, tree, depth-1, nil)
			b, err := workflow.Call(ctx, tree, depth-1, nil)
			if err != nil {
				return 0, err
			}
			v, err := a.Get(ctx)
			return v + b, err
		}, nil)
		run := runtimetest.Start(e, tree, 2, nil)
		if got := run.Must(); got != 4 {
			e.Errorf("got %d", got)
		}
		d, err := e.Client().Describe(e.Context(), run.ID())
		if err != nil || d.Run.Generation != 2 {
			e.Errorf("generation %d, %v", d.Run.Generation, err)
		}
	})
}
