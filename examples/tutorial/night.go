package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	EveryNight workflow.Name[Night, struct{}]  = "night"
	Settle     workflow.Name[Statement, int64] = "settle"
)

// Night says how often the ledger is settled: every 24 hours, that is at midnight UTC. Last is the
// night before.
type Night struct {
	Every time.Duration
	Last  time.Time `json:",omitzero"`
}

type Statement struct{ Customer, Night string }

// night sends each customer with new sales a statement, and begins again for the next night. The
// run never ends; its history does, with each generation.
func (a *agency) night(ctx workflow.Context, n Night) (struct{}, error) {
	now := ctx.Now()
	if now.Before(n.Last) { // the clock of the store was set back, by a fail-over perhaps
		now = n.Last
	}
	midnight := now.Truncate(n.Every).Add(n.Every)
	if err := workflow.Sleep(ctx, midnight.Sub(ctx.Now())); err != nil {
		return struct{}{}, err
	}
	customers, err := workflow.Step(ctx, "customers", a.ledger.customers, nil)
	if err != nil {
		return struct{}{}, err
	}

	// A child for each customer, twenty at a time. One that fails does not stop the others, nor
	// the nights to come.
	night := midnight.UTC().Format(time.RFC3339)
	_, err = workflow.Map(ctx, customers, func(ctx workflow.Context, customer string) (int64, error) {
		return workflow.Call(ctx, Settle, Statement{customer, night}, nil)
	}, &workflow.MapOptions{Limit: 20, CollectErrors: true})
	if err != nil {
		workflow.Log(ctx).Error("statements failed", "night", night, "error", err)
	}
	n.Last = midnight
	return struct{}{}, workflow.ContinueAsNew(ctx, EveryNight, n, nil)
}

// settle marks what a customer has bought as settled in this night, and sends the sum.
func (a *agency) settle(ctx workflow.Context, s Statement) (int64, error) {
	_, err := workflow.StepTx(ctx, "mark", func(ctx context.Context, tx any) (bool, error) {
		return true, a.ledger.mark(ctx, tx, s)
	}, nil)
	if err != nil {
		return 0, err
	}
	return workflow.Step(ctx, "send", func(ctx context.Context) (int64, error) {
		cents, err := a.ledger.total(ctx, s)
		if err != nil {
			return 0, err
		}
		return cents, a.ask(ctx, http.MethodPut, fmt.Sprintf("statement/%s/%s/%d", s.Customer, s.Night, cents))
	}, nil)
}
