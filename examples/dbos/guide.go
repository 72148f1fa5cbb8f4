// Package dbos has the programs from which README.md, the guide for those who come from DBOS, takes
// its code. Its test runs them and compares the guide with them:
//
//	go test ./examples/dbos
package dbos

import (
	"context"
	"database/sql"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Durable names.
const (
	Checkout workflow.Name[Order, string]     = "checkout"
	Ship     workflow.Name[string, string]    = "checkout.ship"
	Paid     workflow.Signal[string]          = "checkout.paid"
	Status   workflow.Query[struct{}, string] = "checkout.status"
)

// Order is what somebody buys.
type Order struct {
	ID    string
	Cents int
}

func checkout(ctx workflow.Context, o Order) (string, error) {
	status := "reserving"
	Status.Handle(ctx, func(struct{}) (string, error) { return status, nil })

	_, err := workflow.StepTx(ctx, "reserve", func(ctx context.Context, tx *sql.Tx) (int64, error) {
		done, err := tx.ExecContext(ctx, `INSERT INTO reservations (id) VALUES (?)`, o.ID)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	}, nil)
	if err != nil {
		return "", err
	}

	status = "waiting for the payment"
	by, ok, err := Paid.ReceiveTimeout(ctx, 24*time.Hour)
	if err != nil {
		return "", err
	}
	if !ok {
		return "nobody paid", nil
	}

	status = "shipping"
	return workflow.Call(ctx, Ship, o.ID+" for "+by, &workflow.ChildOptions{Key: "ship:" + o.ID})
}

func ship(ctx workflow.Context, what string) (string, error) {
	label := func(ctx context.Context) (string, error) { return "sent " + what, nil }
	return workflow.Step(ctx, "label", label, &workflow.StepOptions{
		Retry: &workflow.RetryPolicy{Initial: 100 * time.Millisecond, Max: 5 * time.Second, Attempts: 4},
	})
}

func buy(ctx context.Context, client *runtime.Client, o Order) (string, error) {
	run, err := runtime.Start(ctx, client, Checkout, o, &runtime.StartOptions{Key: o.ID})
	if err != nil {
		return "", err
	}
	err = runtime.Signal(ctx, client, run.ID(), Paid, "Ann", &runtime.SignalOptions{Key: "webhook 7"})
	if err != nil {
		return "", err
	}
	return run.Result(ctx)
}
