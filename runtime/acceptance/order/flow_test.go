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
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// These tests run checkouts on the real engine in a bubble, with books in place of the shop's
// tables. Nothing needs to be installed for them: go test -run Flow ./runtime/acceptance/order

// books are the shop in memory.
type books struct {
	held, cents, requests, receipts int64
	parcels                         map[string]bool // by idempotency key
}

// open lets checkouts of orders at a price work on new books.
func openBooks(e *runtimetest.Env, cents int64) *books {
	b := &books{parcels: map[string]bool{}}
	runtimetest.Handle(e, Checkout, (&seller{}).checkout, nil)
	post := func(step string, fn func()) {
		runtimetest.FakeTx(e, step, func(_ context.Context, tx *memory.Effects) (any, error) {
			tx.Do(fn)
			return nil, nil
		})
	}
	runtimetest.FakeTx(e, stepReserve, func(_ context.Context, tx *memory.Effects) (Hold, error) {
		tx.Do(func() { b.held++ })
		return Hold{Cents: cents}, nil
	})
	post(stepRelease, func() { b.held-- })
	post(stepCharge, func() { b.cents += cents })
	post(stepRefund, func() { b.cents -= cents })
	post(stepRequest, func() { b.requests++ })
	runtimetest.Fake(e, stepShip, func(ctx context.Context) (string, error) {
		b.parcels[workflow.IdempotencyKey(ctx)] = true
		return "T-1", nil
	})
	runtimetest.Fake(e, stepRecall, func(context.Context) (any, error) {
		clear(b.parcels)
		return nil, nil
	})
	runtimetest.FakeTx(e, stepReceipt, func(_ context.Context, tx *memory.Effects) (Receipt, error) {
		tx.Do(func() { b.receipts++ })
		return Receipt{Order: "A-1", Cents: cents, Tracking: "T-1"}, nil
	})
	return b
}

// want compares the books once everything is over.
func (b *books) want(e *runtimetest.Env, held, cents, parcels, receipts int64) {
	e.Helper()
	if b.held != held || b.cents != cents || int64(len(b.parcels)) != parcels || b.receipts != receipts {
		e.Errorf("%d held, %d cents, %d parcels, %d receipts; want %d, %d, %d, %d",
			b.held, b.cents, len(b.parcels), b.receipts, held, cents, parcels, receipts)
	}
}

const grandCents = approvalCents + 1

func startOrder(e *runtimetest.Env) *runtimetest.Run[Receipt] {
	o := Order{ID: "A-1", ReplyMS: (72 * time.Hour).Milliseconds()}
	return runtimetest.Start(e, Checkout, o, &runtime.StartOptions{Key: o.key()})
}

// fails checks that the checkout ended with an outcome.
func fails(e *runtimetest.Env, run *runtimetest.Run[Receipt], outcome string) {
	e.Helper()
	if _, err := run.Result(); err == nil || !strings.Contains(err.Error(), outcome) {
		e.Errorf("the checkout ended with %v, want %q", err, outcome)
	}
}

func TestFlowShips(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		b := openBooks(e, 1_000)
		e.FailNext(stepShip, errors.New("the carrier is down"), errors.New("the carrier is down"))
		if r := startOrder(e).Must(); r.Tracking != "T-1" {
			e.Errorf("receipt %+v", r)
		}
		b.want(e, 1, 1_000, 1, 1)
		if n := len(e.Calls(stepShip)); n != 3 {
			e.Errorf("the carrier was asked %d times", n)
		}
	})
}

func TestFlowBigOrderWaitsForItsApproval(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		b := openBooks(e, grandCents)
		run := startOrder(e)
		e.After(70*time.Hour, func() { runtimetest.Signal(e, run.ID(), Approved, Approval{By: "ops", OK: true}, nil) })
		run.Must()
		b.want(e, 1, grandCents, 1, 1)
		if e.Elapsed().Round(time.Minute) != 70*time.Hour {
			e.Errorf("it took %s", e.Elapsed())
		}
	})
}

func TestFlowUnanswered(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		b := openBooks(e, grandCents)
		run := startOrder(e)
		fails(e, run, outcomeUnanswered)
		b.want(e, 0, 0, 0, 0)
		e.WantHistory(run.ID(), `
			1 RunStarted > step reserve
			2 StepCompleted reserve > step charge
			3 StepCompleted charge > step request approval
			4 StepCompleted request approval > timer order.approved
			5 TimerFired order.approved > step refund
			6 StepCompleted refund > step release
			7 StepCompleted release
			8 RunFailed: no answer in time: 72h0m0s
		`)
	})
}

func TestFlowDeclined(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		b := openBooks(e, 1_000)
		e.FailNext(stepCharge, reject(outcomeDeclined, "no money"))
		fails(e, startOrder(e), outcomeDeclined)
		b.want(e, 0, 0, 0, 0)
		if n := len(e.Calls(stepRefund)); n > 0 {
			e.Errorf("%d refunds of nothing", n)
		}
	})
}

func TestFlowCancelledWhileItWaits(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		b := openBooks(e, grandCents)
		run := startOrder(e)
		e.After(time.Hour, func() { e.Cancel(run.ID(), "the customer changed their mind") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("error %v", err)
		}
		b.want(e, 0, 0, 0, 0)
	})
}

// TestFlowEveryCrash: wherever the node crashes, the books balance: an order that ships, and one
// that is taken back.
func TestFlowEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		b := openBooks(e, grandCents)
		run := startOrder(e)
		e.After(time.Hour, func() { runtimetest.Signal(e, run.ID(), Approved, Approval{By: "ops", OK: true}, nil) })
		run.Must()
		b.want(e, 1, grandCents, 1, 1)
	})
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		b := openBooks(e, 1_000)
		e.FailNext(stepReceipt, reject(outcomeBounced, "no such mailbox"), reject(outcomeBounced, "no such mailbox"))
		fails(e, startOrder(e), outcomeBounced)
		b.want(e, 0, 0, 0, 0)
	})
}

// TestFlowHistories: checkouts that were begun with any earlier release go on with this one.
func TestFlowHistories(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, Checkout, (&seller{}).checkout, nil)
	for name, script := range histories {
		h, err := replaytest.Record(&code, script)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := replaytest.WriteFile("testdata/histories/"+name+".json", h); err != nil {
				t.Error(err)
			}
		}
	}
	replaytest.Golden(t, &code, "testdata/histories")
}

// histories are scripts of checkouts; see replaytest.Record.
var histories = map[string]string{
	"shipped": `
		run order.checkout {"id": "A-1", "lines": [{"sku": "CUP-BLUE", "quantity": 2}]}
		completed reserve {"cents": 1800}
		completed charge 1800
		completed ship "T-1"
		completed receipt {"order": "A-1", "cents": 1800, "tracking": "T-1"}`,
	"approved": `
		run order.checkout {"id": "A-2", "replyMs": 60000}
		completed reserve {"cents": 500001}
		completed charge 500001
		completed "request approval" true
		+30s signal order.approved {"by": "ops", "ok": true}
		completed ship "T-2"
		completed receipt {"order": "A-2", "cents": 500001, "tracking": "T-2"}`,
	"unanswered": `
		run order.checkout {"id": "A-3", "replyMs": 60000}
		completed reserve {"cents": 500001}
		completed charge 500001
		completed "request approval" true
		fired order.approved
		completed refund
		completed release`,
	"cancelled_while_shipping": `
		run order.checkout {"id": "A-4"}
		completed reserve {"cents": 900}
		completed charge 900
		cancel changed my mind
		failed ship reprise.Cancelled the step was cancelled
		completed recall
		completed refund
		completed release`,
	"declined": `
		run order.checkout {"id": "A-5"}
		completed reserve {"cents": 900}
		failed charge *main.Rejection! card declined: no money
		completed release`,
}
