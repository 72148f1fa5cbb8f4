package main

import (
	"context"
	"errors"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// These tests run the workflow for weeks, in milliseconds: go test -run Flow ./examples/approval

var record = flag.Bool("record", false, "keep the histories of the tests that have none")

const day = 24 * time.Hour

// postbox is a mail server that heeds idempotency keys.
type postbox struct {
	mu    sync.Mutex
	keys  map[string]bool
	mails []string
}

func (p *postbox) mail(_ context.Context, key, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.keys[key] {
		p.keys[key] = true
		p.mails = append(p.mails, text)
	}
	return nil
}

func (p *postbox) want(e *runtimetest.Env, mails ...string) {
	e.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(mails, p.mails); diff != "" {
		e.Errorf("mails (-want +got)\n%s", diff)
	}
}

// ask starts a request with a reminder every week, which is given up after thirty days.
func ask(e *runtimetest.Env) (*runtimetest.Run[string], *postbox) {
	p := &postbox{keys: map[string]bool{}}
	runtimetest.Handle(e, Approve, (&office{p.mail}).approve, nil)
	return runtimetest.Start(e, Approve, Request{What: "leave", Remind: 7 * day, Patience: 30 * day}, nil), p
}

func decide(e *runtimetest.Env, run *runtimetest.Run[string], after time.Duration, ok bool) {
	e.After(after, func() { runtimetest.Signal(e, run.ID(), Decided, Decision{By: "Ann", OK: ok}, nil) })
}

func wants(e *runtimetest.Env, run *runtimetest.Run[string], want string, after time.Duration) {
	e.Helper()
	if got := run.Must(); got != want {
		e.Errorf("result %q, want %q", got, want)
	}
	if got := e.Elapsed().Round(time.Hour); got != after {
		e.Errorf("it took %s, want %s", got, after)
	}
}

const (
	asked    = "please decide: leave"
	reminded = "still waiting: leave"
)

func TestFlowApproved(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		decide(e, run, 3*day, true)
		wants(e, run, "approved by Ann", 3*day)
		box.want(e, asked)
	})
}

func TestFlowRefusedAfterReminders(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		decide(e, run, 16*day, false)
		wants(e, run, "refused by Ann", 16*day)
		box.want(e, asked, reminded, reminded)
		e.WantHistory(run.ID(), `
			1 RunStarted > step ask
			2 StepCompleted ask > timer, timer approval.decided
			3 TimerFired approval.decided > step remind
			4 StepCompleted remind > timer approval.decided
			5 TimerFired approval.decided > step remind
			6 StepCompleted remind > timer approval.decided
			7 SignalReceived approval.decided > cancel 7, cancel 2
			8 RunCompleted
		`)
		keep(e, run, "refused")
	})
}

func TestFlowNobodyDecides(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		wants(e, run, "refused, because nobody decided", 30*day)
		box.want(e, slices.Concat([]string{asked}, slices.Repeat([]string{reminded}, 4), []string{"too late: leave"})...)
		keep(e, run, "nobody")
	})
}

func TestFlowWithdrawn(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		e.After(8*day, func() { e.Cancel(run.ID(), "the island is closed") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("error %v", err)
		}
		box.want(e, asked, reminded, "never mind: leave")
		keep(e, run, "withdrawn")
	})
}

// TestFlowMailServerIsDown: a reminder is retried for as long as it takes; the deadline holds.
func TestFlowMailServerIsDown(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		e.FailNext("remind", slices.Repeat([]error{errors.New("no route to host")}, 2000)...) // two days of tries
		wants(e, run, "refused, because nobody decided", 30*day)
		box.want(e, asked, reminded, reminded, reminded, "too late: leave")
	})
}

// TestFlowEveryCrash: nobody gets a mail twice, wherever the node crashes.
func TestFlowEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		run, box := ask(e)
		decide(e, run, 16*day, true)
		wants(e, run, "approved by Ann", 16*day)
		box.want(e, asked, reminded, reminded)
	})
}

// keep makes a golden history of a run, with -record.
func keep(e *runtimetest.Env, run *runtimetest.Run[string], name string) {
	if *record {
		if _, err := replaytest.Keep("testdata/histories/"+name+".json", e.History(run.ID())); err != nil {
			e.Error(err)
		}
	}
}

// TestFlowHistories: runs that an earlier release started continue with this one.
func TestFlowHistories(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, Approve, (&office{}).approve, nil)
	replaytest.Golden(t, &code, "testdata/histories")
}
