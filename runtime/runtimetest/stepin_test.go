package runtimetest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// Steps in transactions, of the store's database or another one, are faked like others, and crashes
// do not repeat what they do.
func TestFakesOfStepsInTransactions(t *testing.T) {
	effects := 0
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		effects = 0
		runtimetest.Handle(e, request, func(ctx workflow.Context, what string) (string, error) {
			nobody := func(context.Context, *strings.Builder) (string, error) { panic("the body of a fake") }
			elsewhere, err := workflow.StepIn(ctx, "elsewhere", nil, nobody, nil)
			if err != nil {
				return "", err
			}
			later := workflow.StepInAsync(ctx, "elsewhere", nil, nobody, nil)
			err = workflow.DoIn(ctx, "nothing", nil, func(context.Context, *strings.Builder) error { panic("the body of a fake") }, nil)
			if err != nil {
				return "", err
			}
			again, err := later.Get(ctx)
			if err != nil {
				return "", err
			}
			err = workflow.DoTx(ctx, "here", func(context.Context, *memory.Effects) error { panic("the body of a fake") }, nil)
			return elsewhere + again + what, err
		}, nil)
		runtimetest.Fake(e, "elsewhere", func(context.Context) (string, error) { return "else", nil })
		runtimetest.Fake(e, "nothing", func(context.Context) (struct{}, error) { return struct{}{}, nil })
		runtimetest.FakeTx(e, "here", func(_ context.Context, tx *memory.Effects) (struct{}, error) {
			tx.Do(func() { effects++ })
			return struct{}{}, nil
		})
		if got := runtimetest.Start(e, request, "x", nil).Must(); got != "elseelsex" || effects != 1 {
			t.Errorf("got %q, %d effects", got, effects)
		}
	})
}
