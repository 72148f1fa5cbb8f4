package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// desk is the people who approve big orders. They find an order in the table of requests and answer
// with a signal. They know the id of its run and nothing about its code or its node, as a web
// handler would.
type desk struct {
	shop    tables
	client  *runtime.Client
	log     *slog.Logger
	tickets map[string]ticket // by order id
	done    map[string]bool   // requests that need no further answer
}

func newDesk(shop tables, client *runtime.Client, log *slog.Logger, tickets []ticket) *desk {
	d := &desk{shop: shop, client: client, log: log, tickets: map[string]ticket{}, done: map[string]bool{}}
	for _, t := range tickets {
		d.tickets[t.ID] = t
	}
	return d
}

const (
	deskPace    = 150 * time.Millisecond // between two looks at the requests
	deskPonders = 300 * time.Millisecond // how old a request is before it is answered
)

// Run answers requests until ctx ends. What fails, for want of a database for example, is tried
// again at the next look.
func (d *desk) Run(ctx context.Context) {
	tick := time.NewTicker(deskPace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := d.look(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("the desk could not work", "error", err)
		}
	}
}

const openRequestsSQL = `select run, step, order_id from shop_requests where at < $1 order by id`

func (d *desk) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	before := time.Now().Add(-deskPonders).UnixMicro()
	requests, err := rows(ctx, d.shop, openRequestsSQL, func(e *effect) []any { return []any{&e.Run, &e.Step, &e.Order} }, before)
	if err != nil {
		return err
	}
	for _, r := range requests {
		t, known := d.tickets[r.Order]
		if !known || d.done[r.Run] {
			continue
		}
		run, err := journal.ParseRunID(r.Run)
		if err != nil {
			return err
		}
		if err := d.answer(ctx, run, t); err != nil && !errors.Is(err, journal.ErrClosed) {
			return err
		}
		d.done[r.Run] = true
	}
	return nil
}

// answer sends every approval twice, as webhooks do; the message's key makes the second one
// harmless.
func (d *desk) answer(ctx context.Context, run journal.RunID, t ticket) error {
	times := 1
	switch t.Desk {
	case deskApproves:
		times = 2
	case deskRefuses:
	case deskCancels:
		return d.client.Cancel(ctx, run, "the customer changed their mind")
	default:
		return nil
	}
	answer := Approval{By: "ops", OK: t.Desk == deskApproves}
	for range times {
		if err := runtime.Signal(ctx, d.client, run, Approved, answer, &runtime.SignalOptions{Key: "desk:" + t.ID}); err != nil {
			return err
		}
	}
	return nil
}
