package workflow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// ErrSoldOut is an error on which workflow code branches.
var ErrSoldOut = errors.New("sold out")

// Declined is an error with details.
type Declined struct{ Code int }

func (d *Declined) Error() string { return fmt.Sprintf("declined with code %d", d.Code) }

func ExampleRegisterError() {
	workflow.RegisterError("shop.ErrSoldOut", ErrSoldOut) // programs do so in an init function
	order := func(ctx workflow.Context, item string) (string, error) {
		err := workflow.Do(ctx, "reserve", func(context.Context) error {
			return workflow.Permanent(fmt.Errorf("reserve %s: %w", item, ErrSoldOut))
		}, nil)
		if errors.Is(err, ErrSoldOut) {
			return "on the waiting list", nil
		}
		return "reserved", err
	}
	drive(workflow.Define("order", 1, order), "tea")
	// Output: RunCompleted "on the waiting list"
}

func ExampleRegisterErrorType() {
	workflow.RegisterErrorType[*Declined]("shop.Declined") // programs do so in an init function
	pay := func(ctx workflow.Context, _ struct{}) (string, error) {
		err := workflow.Do(ctx, "charge", func(context.Context) error { return workflow.Permanent(&Declined{Code: 51}) }, nil)
		if declined, ok := errors.AsType[*Declined](err); ok {
			return fmt.Sprint("ask for another card, because of code ", declined.Code), nil
		}
		return "paid", err
	}
	drive(workflow.Define("pay", 1, pay), nil)
	// Output: RunCompleted "ask for another card, because of code 51"
}
