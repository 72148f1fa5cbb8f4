package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Payment answers early: one call starts the run and gets the result of its first step, while the
// slow rest continues.
const (
	Payment  workflow.Name[int, string]        = "payment"
	Accepted workflow.Update[struct{}, string] = "payment.accepted"
)

// bank does the two halves of a payment. Calls with the same key are one call.
type bank struct {
	check  func(ctx context.Context, cents int) (id string, err error)
	settle func(ctx context.Context, key, id string) error
}

func (b *bank) payment(ctx workflow.Context, cents int) (string, error) {
	var checked workflow.Promise[string]
	Accepted.Handle(ctx, func(ctx workflow.Context, _ struct{}) (string, error) { return checked.Future().Get(ctx) }, nil)

	id, err := workflow.Step(ctx, "check", func(ctx context.Context) (string, error) { return b.check(ctx, cents) }, nil)
	if err != nil {
		checked.Fail(err)
		return "", errFirst(err, workflow.HandlersFinished(ctx)) // the caller gets err, rather than that the run is closed
	}
	checked.Resolve(id)
	err = workflow.Do(ctx, "settle", func(ctx context.Context) error { return b.settle(ctx, workflow.IdempotencyKey(ctx), id) }, nil)
	return id, errFirst(err, workflow.HandlersFinished(ctx))
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
