package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Durable names and types, shared by the workflow's code and by everybody who starts or approves an
// order.
const (
	Checkout workflow.Name[Order, Receipt] = "order.checkout"
	Approved workflow.Signal[Approval]     = "order.approved"
)

type (
	Order struct {
		ID, Trouble            string // Trouble is a step that fails for good, or what the desk does
		Pieces, Price, ReplyMS int64  // ReplyMS is how long the customer waits for an approval
	}
	Hold     struct{ Cents int64 }
	Approval struct{ OK bool }
	Receipt  struct {
		Order, Tracking string
		Cents           int64
	}
)

const bigCents = 500_000 // an order of this price or more needs an approval

// checkout is the saga of one order. Whatever ends it early, its compensations run, newest first.
func checkout(ctx workflow.Context, o Order) (r Receipt, err error) {
	return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (Receipt, error) {
		hold, err := workflow.StepTx(ctx, "reserve", result(Hold{o.Pieces * o.Price}, o.enter(o.Pieces, 0)), nil)
		if err != nil {
			return r, err
		}
		workflow.PushTx(undo, "release", o.enter(-o.Pieces, 0), nil)
		if _, err := workflow.StepTx(ctx, "charge", result(hold.Cents, o.enter(0, hold.Cents)), nil); err != nil {
			return r, err
		}
		workflow.PushTx(undo, "refund", o.enter(0, -hold.Cents), nil)
		if hold.Cents >= bigCents {
			if _, err := workflow.StepTx(ctx, "request approval", result(true, o.enter(0, 0)), nil); err != nil {
				return r, err
			}
			answer, _, err := Approved.ReceiveTimeout(ctx, time.Duration(o.ReplyMS)*time.Millisecond)
			if err != nil || !answer.OK { // no answer in time is no approval
				return r, cmp.Or(err, errors.New("not approved"))
			}
		}
		undo.Push("recall", carrier, quickly) // first: an attempt that failed may have shipped
		tracking, err := workflow.Step(ctx, "ship", func(ctx context.Context) (string, error) {
			return "parcel " + workflow.IdempotencyKey(ctx), carrier(ctx)
		}, quickly)
		if err != nil {
			return r, err
		}
		return workflow.StepTx(ctx, "receipt", result(Receipt{o.ID, tracking, hold.Cents}, o.enter(0, 0)), nil)
	})
}

var quickly = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 100 * time.Millisecond}}

// carrier stands for a request over HTTP that is repeated until it succeeds. The idempotency key of
// the step goes along, so that a repeated request ships one parcel.
func carrier(context.Context) error {
	if rand.IntN(4) == 0 {
		return errors.New("the carrier is down")
	}
	return nil
}

// booksSQL has no constraint that would hide an effect that happened twice: the audit must see it.
const booksSQL = `create table if not exists books (run text, step text, order_id text, pieces integer, cents integer)`

// enterSQL enters nothing if too few pieces are left of the 1,200 that the shop began with.
const enterSQL = `insert into books select $1, $2, $3, $4, $5 where $4 <= 0 or $4 + (select total(pieces) from books) <= 1200`

// enter returns a step that writes into the books. Its row and its event commit in one transaction,
// so the effect happens exactly once.
func (o Order) enter(pieces, cents int64) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		step, _ := workflow.StepInfo(ctx)
		entered, err := tx.ExecContext(ctx, enterSQL, step.Run.String(), step.Step, o.ID, pieces, cents)
		if err != nil {
			return err
		}
		if n, err := entered.RowsAffected(); err != nil || n == 0 {
			return workflow.Permanent(errors.New("sold out"))
		}
		if step.Step == o.Trouble { // the error rolls the row back
			return workflow.Permanent(errors.New(o.Trouble + " failed"))
		}
		return nil
	}
}

// result returns a step that also has a result.
func result[T any](v T, step func(context.Context, *sql.Tx) error) func(context.Context, *sql.Tx) (T, error) {
	return func(ctx context.Context, tx *sql.Tx) (T, error) { return v, step(ctx, tx) }
}
