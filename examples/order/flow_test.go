package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// These tests run the saga on the real engine, in memory and in virtual time:
// go test -run Flow ./examples/order

// ledger has the steps' effects in place of the books.
type ledger struct{ pieces, cents, receipts, parcels int64 }

func openLedger(e *runtimetest.Env) *ledger {
	l := &ledger{}
	runtimetest.Handle(e, Checkout, checkout, nil)
	for step, effect := range map[string]func(){
		"release": func() { l.pieces-- }, "charge": func() { l.cents++ }, "refund": func() { l.cents-- }, "request approval": func() {},
	} {
		runtimetest.FakeTx(e, step, func(_ context.Context, tx *memory.Effects) (any, error) {
			tx.Do(effect)
			return nil, nil
		})
	}
	runtimetest.FakeTx(e, "reserve", func(_ context.Context, tx *memory.Effects) (Hold, error) {
		tx.Do(func() { l.pieces++ })
		return Hold{Cents: bigCents}, nil
	})
	keys := map[string]bool{}
	runtimetest.Fake(e, "ship", func(ctx context.Context) (string, error) {
		keys[workflow.IdempotencyKey(ctx)] = true
		l.parcels = int64(len(keys))
		return "T-1", nil
	})
	runtimetest.Fake(e, "recall", func(context.Context) (any, error) { l.parcels = 0; return nil, nil })
	runtimetest.FakeTx(e, "receipt", func(_ context.Context, tx *memory.Effects) (Receipt, error) {
		tx.Do(func() { l.receipts++ })
		return Receipt{Order: "A-1", Cents: bigCents, Tracking: "T-1"}, nil
	})
	return l
}

func (l *ledger) want(e *runtimetest.Env, want ledger) {
	e.Helper()
	if *l != want {
		e.Errorf("the ledger has %+v, want %+v", *l, want)
	}
}

var (
	sold    = ledger{pieces: 1, cents: 1, receipts: 1, parcels: 1}
	nothing = ledger{}
)

// buy starts an order that somebody answers after a while, or nobody if that is zero.
func buy(e *runtimetest.Env, after time.Duration, ok bool) *runtimetest.Run[Receipt] {
	run := runtimetest.Start(e, Checkout, Order{ID: "A-1", ReplyMS: (72 * time.Hour).Milliseconds()}, nil)
	if after > 0 {
		e.After(after, func() { runtimetest.Signal(e, run.ID(), Approved, Approval{OK: ok}, nil) })
	}
	return run
}

func fails(e *runtimetest.Env, run *runtimetest.Run[Receipt], want string) {
	e.Helper()
	if _, err := run.Result(); err == nil || !strings.Contains(err.Error(), want) {
		e.Errorf("the order ended with %v, want %q", err, want)
	}
}

func TestFlowShipsWhenItIsApproved(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		e.FailNext("ship", errors.New("the carrier is down"), errors.New("the carrier is down"))
		buy(e, 70*time.Hour, true).Must()
		l.want(e, sold)
		if n := len(e.Calls("ship")); n != 3 {
			e.Errorf("the carrier was asked %d times", n)
		}
	})
}

func TestFlowIsTakenBackWhenNobodyAnswers(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		run := buy(e, 0, false)
		fails(e, run, "not approved")
		l.want(e, nothing)
		e.WantHistory(run.ID(), `
			1 RunStarted > step reserve
			2 StepCompleted reserve > step charge
			3 StepCompleted charge > step request approval
			4 StepCompleted request approval > timer order.approved
			5 TimerFired order.approved > step refund
			6 StepCompleted refund > step release
			7 StepCompleted release
			8 RunFailed: not approved
		`)
	})
}

func TestFlowIsTakenBackWhenItIsRefused(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		fails(e, buy(e, time.Hour, false), "not approved")
		l.want(e, nothing)
	})
}

func TestFlowIsTakenBackWhenItIsCancelled(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		run := buy(e, 0, false)
		e.After(time.Hour, func() { e.Cancel(run.ID(), "the customer changed their mind") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("error %v", err)
		}
		l.want(e, nothing)
	})
}

// TestFlowEveryCrash: wherever the node crashes, an order that ships and one that is taken back
// balance.
func TestFlowEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		buy(e, time.Hour, true).Must()
		l.want(e, sold)
	})
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := openLedger(e)
		bounced := workflow.Permanent(errors.New("the mail bounced"))
		e.FailNext("receipt", bounced, bounced)
		fails(e, buy(e, time.Hour, true), "bounced")
		l.want(e, nothing)
	})
}

// TestFlowHistories: orders that an earlier release started continue with this one.
func TestFlowHistories(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, Checkout, checkout, nil)
	replaytest.Golden(t, &code, "testdata/histories")
}
