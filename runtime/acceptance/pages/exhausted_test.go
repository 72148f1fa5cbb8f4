package pages_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// billing charges with a function, and waits for an operator where that fails again and again.
func billing(ctx workflow.Context, charge func(context.Context) (int, error)) (int, error) {
	return workflow.Step(ctx, "charge", charge, &workflow.StepOptions{
		Retry:       &workflow.RetryPolicy{Attempts: 5},
		OnExhausted: workflow.PauseRun,
	})
}

// TestExhausted: what operations.md says about runs that pause themselves.
func TestExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
		mended, attempts := false, 0
		runtime.Handle(node, charge, func(ctx workflow.Context, in string) (int, error) {
			return billing(ctx, func(context.Context) (int, error) {
				if attempts++; !mended {
					return 0, errors.New("the bank is away")
				}
				return len(in), nil
			})
		}, nil)
		serve(t, node)
		client := node.Client()
		run, err := runtime.Start(t.Context(), client, charge, "Ada", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		d, err := client.Describe(t.Context(), run.ID())
		if err != nil || d.Run.Task.State != journal.Paused || attempts != 5 {
			t.Fatalf("after an hour and %d attempts: %+v, %v", attempts, d.Run.Task, err)
		}
		mended = true
		if err := client.Resume(t.Context(), run.ID()); err != nil {
			t.Fatal(err)
		}
		if n, err := run.Result(t.Context()); n != 3 || err != nil || attempts != 6 {
			t.Errorf("%d, %v after %d attempts", n, err, attempts)
		}
	})
}
