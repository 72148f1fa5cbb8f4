package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// errFull is registered, errGone is not.
var (
	errFull = errors.New("full")
	errGone = errors.New("gone")
)

// delayed is registered, with its details.
type delayed struct{ Minutes int }

func (d *delayed) Error() string { return fmt.Sprintf("delayed by %d minutes", d.Minutes) }

const (
	ferry workflow.Name[string, string]   = "ferry"
	quay  workflow.Name[string, string]   = "quay"
	berth workflow.Update[string, string] = "berth"
	sails workflow.Signal[string]         = "sails"
)

// known says what an error is found to be.
func known(err error) string {
	var is []string
	if errors.Is(err, errFull) {
		is = append(is, "full")
	}
	if errors.Is(err, errGone) {
		is = append(is, "gone")
	}
	if d, ok := errors.AsType[*delayed](err); ok {
		is = append(is, fmt.Sprint(d.Minutes))
	}
	return strings.Join(is, " ")
}

// TestErrorsWhateverCrashes: code finds a registered error behind a step, a child and a child's
// child, and its callers find it behind an update and the result: when it happens, after each crash
// and in every replay, since the code takes another way for each.
func TestErrorsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		workflow.RegisterError("ferry.full", errFull)
		workflow.RegisterErrorType[*delayed]("ferry.delayed")
		fails := map[string]error{
			"full": fmt.Errorf("ferry: %w", errFull), "late": fmt.Errorf("quay: %w", &delayed{20}), "gone": fmt.Errorf("ferry: %w", errGone),
			"both": errors.Join(errGone, &delayed{5}, errFull),
		}
		sail := func(ctx workflow.Context, how string) (string, error) {
			return workflow.Step(ctx, "sail", func(context.Context) (string, error) { return "", workflow.Permanent(fails[how]) }, nil)
		}
		runtimetest.Handle(e, quay, sail, nil)
		runtimetest.Handle(e, ferry, func(ctx workflow.Context, how string) (string, error) {
			berth.Handle(ctx, func(ctx workflow.Context, how string) (string, error) { return sail(ctx, how) }, nil)
			_, step := sail(ctx, how)
			if err := workflow.Do(ctx, "seen "+known(step), func(context.Context) error { return nil }, nil); err != nil {
				return "", err
			}
			_, child := workflow.Call(ctx, quay, how, nil)
			if known(child) != known(step) {
				return "", fmt.Errorf("the child's error is %q, the step's %q", known(child), known(step))
			}
			if _, err := sails.Receive(ctx); err != nil {
				return "", err
			}
			if err := workflow.HandlersFinished(ctx); err != nil {
				return "", err
			}
			return "", fmt.Errorf("no ferry: %w", step)
		}, nil)
		for how, want := range map[string]string{"full": "full", "late": "20", "gone": "", "both": "full 5"} {
			run := runtimetest.Start(e, ferry, how, nil)
			_, err := runtimetest.Update(e, run.ID(), berth, how, nil)
			if failed, ok := errors.AsType[*runtime.UpdateError](err); !ok || known(failed) != want {
				e.Errorf("the update of %s: %v is %q, want %q", how, err, known(err), want)
			}
			runtimetest.Signal(e, run.ID(), sails, "go", nil)
			_, err = run.Result()
			if failed, ok := errors.AsType[*runtime.FailedError](err); !ok || known(failed) != want {
				e.Errorf("the result of %s: %v is %q, want %q", how, err, known(err), want)
			} else if failed.Failure.Type == journal.FailurePanic {
				e.Errorf("the result of %s: %v", how, err)
			}
			if len(e.Calls("seen "+want)) == 0 {
				e.Errorf("the code did not see %q", want)
			}
		}
	})
}
