package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Durable names: they are stored, so they stay as they are when the code is renamed.
const (
	BookTrip workflow.Name[Trip, Receipt]     = "trip"
	Decided  workflow.Signal[Decision]        = "trip.decided"
	Status   workflow.Query[struct{}, string] = "trip.status"
)

type Trip struct {
	ID, Customer string
	Cents        int64
	Patience     time.Duration // how long an expensive trip waits for its approval
}

type Decision struct {
	By string
	OK bool
}

type Receipt struct {
	Trip, ApprovedBy string
	Cents            int64
}

// expensive is the price from which on somebody must approve a trip.
const expensive = 100_000

// agency has what the workflows need of the world.
type agency struct {
	ask    func(ctx context.Context, method, path string) error // a partner: to book (PUT) or to cancel (DELETE)
	ledger ledger
}

// trip books a flight and a hotel, waits for an approval if need be, and enters the sale into the
// ledger. Whatever ends it early, what was booked is cancelled, newest first.
func (a *agency) trip(ctx workflow.Context, t Trip) (Receipt, error) {
	status := "booking"
	Status.Handle(ctx, func(struct{}) (string, error) { return status, nil })

	return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (Receipt, error) {
		for _, what := range []string{"flight", "hotel"} {
			// Pushed before the step: an attempt that failed may have booked all the same.
			undo.Push("cancel "+what, func(ctx context.Context) error {
				return a.ask(ctx, http.MethodDelete, what+"/"+t.ID)
			}, nil)
			err := workflow.Do(ctx, "book "+what, func(ctx context.Context) error {
				return a.ask(ctx, http.MethodPut, what+"/"+t.ID)
			}, nil)
			if err != nil {
				status = "not booked"
				return Receipt{}, err
			}
		}

		receipt := Receipt{Trip: t.ID, Cents: t.Cents}
		if t.Cents >= expensive {
			status = "waiting for an approval"
			d, inTime, err := Decided.ReceiveTimeout(ctx, t.Patience)
			switch {
			case err != nil: // the trip was cancelled
				return Receipt{}, err
			case !inTime:
				status = "not approved"
				return Receipt{}, errors.New("nobody approved the trip in time")
			case !d.OK:
				status = "not approved"
				return Receipt{}, fmt.Errorf("%s refused the trip", d.By)
			}
			receipt.ApprovedBy = d.By
		}

		// The row and the step's event are one transaction: the sale is entered exactly once.
		_, err := workflow.StepTx(ctx, "enter", func(ctx context.Context, tx any) (bool, error) {
			return true, a.ledger.enter(ctx, tx, t)
		}, nil)
		if err != nil {
			return Receipt{}, err
		}
		status = "booked"
		return receipt, nil
	})
}
