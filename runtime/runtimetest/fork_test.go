package runtimetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestForkWhateverCrashes: a test forks a run with given results, with a crash at every turn. Steps
// that have a result are never executed for the fork, whoever dies before its event is stored.
func TestForkWhateverCrashes(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		const two workflow.Name[string, string] = "two"
		step := func(ctx workflow.Context, name string, err error) workflow.Future[string] {
			return workflow.StepAsync(ctx, name, func(context.Context) (string, error) { return name, err }, nil)
		}
		runtimetest.Handle(e, two, func(ctx workflow.Context, in string) (string, error) {
			a, b := step(ctx, "a", workflow.Permanent(errors.New("no"))), step(ctx, "b", workflow.Permanent(errors.New("no")))
			got, err := a.Get(ctx)
			also, other := b.Get(ctx)
			if err := errors.Join(err, other); err != nil {
				return "", err
			}
			last, err := step(ctx, "c", nil).Get(ctx)
			return in + got + also + last, err
		}, nil)
		run := runtimetest.Start(e, two, "in ", nil)
		if _, err := run.Result(); err == nil {
			t.Fatal("the run has not failed")
		}
		was, results := e.History(run.ID()), map[journal.Seq]any{}
		for i := range was.Events {
			if ev := &was.Events[i]; ev.Kind == journal.StepFailed {
				results[ev.Seq] = map[string]string{"a": "A", "b": "B"}[ev.Name]
			}
		}
		before := []int{len(e.Calls("a")), len(e.Calls("b"))}
		forked, err := e.Client().Fork(context.Background(), run.ID(), runtime.AfterEvent(1), &runtime.ForkOptions{Unproven: true, Results: results})
		if err != nil {
			t.Fatal(err)
		}
		got, err := runtime.RunOf(e.Client(), two, forked.Run).Result(context.Background())
		if want := "in ABc"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if after := []int{len(e.Calls("a")), len(e.Calls("b"))}; after[0] != before[0] || after[1] != before[1] {
			t.Errorf("steps with results were executed: %v calls after %v", after, before)
		}
	})
}
