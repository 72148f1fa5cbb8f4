package main

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Durable names, shared by whoever starts an order, answers a request or runs the code.
const (
	Checkout workflow.Name[Order, Receipt] = "order.checkout"
	Approved workflow.Signal[Approval]     = "order.approved"
)

// Receipt is what a shipped order leads to.
type Receipt struct {
	Order    string `json:"order"`
	Cents    int64  `json:"cents"`
	Tracking string `json:"tracking"`
}

// Approval is the desk's answer about a big order.
type Approval struct {
	By string `json:"by"`
	OK bool   `json:"ok"`
}

// The steps of a checkout, each with the step that takes it back.
const (
	stepReserve = "reserve"
	stepRelease = "release"
	stepCharge  = "charge"
	stepRefund  = "refund"
	stepRequest = "request approval"
	stepShip    = "ship"
	stepRecall  = "recall"
	stepReceipt = "receipt"
)

// approvalCents is the price from which somebody must approve an order.
const approvalCents = 500_000

// quickly retries for as long as it takes: only a Rejection gives an order up.
var quickly = &workflow.StepOptions{
	Retry:          &workflow.RetryPolicy{Initial: 100 * time.Millisecond, Factor: 2, Max: time.Second, Jitter: 0.2},
	AttemptTimeout: 10 * time.Second,
}

// patiently is for the carrier, which may never answer.
var patiently = &workflow.StepOptions{
	Retry:          quickly.Retry,
	AttemptTimeout: time.Second,
}

// seller runs checkouts.
type seller struct {
	bank    *bank
	courier *courier
}

// checkout is the saga of one order. Whatever ends it early, everything done so far is taken back,
// newest first.
func (s *seller) checkout(ctx workflow.Context, o Order) (Receipt, error) {
	return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (Receipt, error) {
		hold, err := s.pay(ctx, o, undo)
		if err != nil {
			return Receipt{}, err
		}
		if hold.Cents >= approvalCents {
			if err := approve(ctx, o, hold); err != nil {
				return Receipt{}, err
			}
		}
		return s.deliver(ctx, o, hold, undo)
	})
}

// pay reserves the items and takes the money.
func (s *seller) pay(ctx workflow.Context, o Order, undo *workflow.Undo) (Hold, error) {
	run := ctx.Info().Run.String()
	hold, err := workflow.StepTx(ctx, stepReserve, func(ctx context.Context, tx any) (Hold, error) {
		return reserve(ctx, stepTx(tx), run, o)
	}, quickly)
	if err != nil {
		return Hold{}, err
	}
	workflow.PushTx(undo, stepRelease, func(ctx context.Context, tx any) error {
		return release(ctx, stepTx(tx), run, o)
	}, quickly)

	// The charge is written before the bank decides: a decline must roll it back.
	_, err = workflow.StepTx(ctx, stepCharge, func(ctx context.Context, tx any) (int64, error) {
		if err := s.bank.think(ctx); err != nil {
			return 0, err
		}
		if err := book(ctx, stepTx(tx), run, stepCharge, o, hold.Cents); err != nil {
			return 0, err
		}
		return hold.Cents, s.bank.authorize(ctx, o)
	}, quickly)
	if err != nil {
		return Hold{}, err
	}
	workflow.PushTx(undo, stepRefund, func(ctx context.Context, tx any) error {
		return book(ctx, stepTx(tx), run, stepRefund, o, -hold.Cents)
	}, quickly)
	return hold, nil
}

// approve waits until somebody says yes.
func approve(ctx workflow.Context, o Order, hold Hold) error {
	run := ctx.Info().Run.String()
	_, err := workflow.StepTx(ctx, stepRequest, func(ctx context.Context, tx any) (bool, error) {
		return true, request(ctx, stepTx(tx), run, o, hold.Cents)
	}, quickly)
	if err != nil {
		return err
	}
	answer, ok, err := Approved.ReceiveTimeout(ctx, o.reply())
	switch {
	case err != nil:
		return err
	case !ok:
		return &Rejection{outcomeUnanswered, o.reply().String()}
	case !answer.OK:
		return &Rejection{outcomeRefused, "by " + answer.By}
	}
	return nil
}

// deliver ships the order and writes the receipt.
func (s *seller) deliver(ctx workflow.Context, o Order, hold Hold, undo *workflow.Undo) (Receipt, error) {
	run := ctx.Info().Run.String()
	// Pushed first: a step that is given up half-way may have reached the carrier all the same.
	undo.Push(stepRecall, func(ctx context.Context) error { return s.courier.recall(ctx, o) }, patiently)
	tracking, err := workflow.Step(ctx, stepShip, func(ctx context.Context) (string, error) {
		return s.courier.ship(ctx, workflow.IdempotencyKey(ctx), o)
	}, patiently)
	if err != nil {
		return Receipt{}, err
	}
	return workflow.StepTx(ctx, stepReceipt, func(ctx context.Context, tx any) (Receipt, error) {
		r := Receipt{Order: o.ID, Cents: hold.Cents, Tracking: tracking}
		return r, issue(ctx, stepTx(tx), run, o, r)
	}, quickly)
}
