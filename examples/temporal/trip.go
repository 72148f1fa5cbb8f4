package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Trip books a car, a hotel and a flight, or nothing: what was booked before a booking fails is
// cancelled, newest first.
const Trip workflow.Name[string, string] = "trip"

// agency books and cancels. Calls that have the same key are one call.
type agency struct {
	book, cancel func(ctx context.Context, key, what string) error
}

func (a *agency) trip(ctx workflow.Context, traveller string) (string, error) {
	return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
		for _, what := range []string{"car", "hotel", "flight"} {
			// Pushed first: a booking whose answer was lost is cancelled as well.
			undo.Push("cancel "+what, func(ctx context.Context) error {
				return a.cancel(ctx, workflow.IdempotencyKey(ctx), what)
			}, nil)
			err := workflow.Do(ctx, "book "+what, func(ctx context.Context) error {
				return a.book(ctx, workflow.IdempotencyKey(ctx), what)
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 3}})
			if err != nil {
				return "", err
			}
		}
		return traveller + " goes", nil
	})
}
