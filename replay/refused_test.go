package replay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// dropped are the verbs whose refusal goes into a future, which code may drop.
var dropped = map[string]func(ctx){
	"workflow.StepAsync":        func(c ctx) { workflow.StepAsync[int](c, "dropped", nil, nil) },
	"workflow.StepTxAsync":      func(c ctx) { workflow.StepTxAsync[int, int](c, "dropped", nil, nil) },
	"workflow.CallAsync":        func(c ctx) { workflow.CallAsync(c, kidName, "", nil) },
	"workflow.Signal.SendAsync": func(c ctx) { number.SendAsync(c, somebody, 1) },
}

// refusedAs checks that an error is the refusal of a verb, with its line.
func refusedAs(t *testing.T, where, verb string, err error) {
	t.Helper()
	if !errors.Is(err, workflow.ErrReadOnly) || !strings.Contains(err.Error(), verb+" called by code that may only read at ") || !strings.Contains(err.Error(), "refused_test.go") {
		t.Errorf("%s in %s: %v", verb, where, err)
	}
}

// TestRefusalsAreNotSilent: read-only code that drops what it asked for has failed, wherever it
// runs.
func TestRefusalsAreNotSilent(t *testing.T) {
	for verb, ask := range dropped {
		r := newRig(define(func(c ctx) (string, error) {
			sumOf.Handle(c, func(int) (int, error) { ask(c); return 1, nil })
			more.Handle(c, func(_ ctx, n int) (int, error) { return n, nil },
				&workflow.UpdateOptions[int]{Validate: func(int) error { ask(c); return nil }})
			return approved.Receive(c)
		}))
		mustStep(t, r, started())
		arg := journal.Payload{Data: []byte("1")}
		_, err := r.m.Query("sum", arg)
		refusedAs(t, "a query", verb, err)
		refusedAs(t, "a validator", verb, r.m.CheckUpdate("more", arg))
		mustStep(t, r, signalOf(1, "approved", `"x"`)) // neither harms the run
		r.m.Close()
		for where, code := range map[string]func(ctx){
			"a condition":            func(c ctx) { _ = workflow.Await(c, func() bool { ask(c); return true }) },
			"a condition with limit": func(c ctx) { _, _ = workflow.AwaitTimeout(c, 1, func() bool { ask(c); return true }) },
			"a side effect":          func(c ctx) { workflow.SideEffect(c, "x", func() int { ask(c); return 1 }) },
		} {
			r := newRig(define(func(c ctx) (string, error) { code(c); return "", nil }))
			_, err := r.step(started())
			refusedAs(t, where, verb, err)
			if d := r.m.Take(); len(d.Steps)+len(d.Starts)+len(d.Messages) > 0 {
				t.Errorf("%s in %s: decision %+v", verb, where, d)
			}
			r.m.Close()
		}
	}
}

// TestReadersChangeNothingUnused: what belongs to no run yet is not changed by code that may only
// read, and neither is a generator that the code has kept.
func TestReadersChangeNothingUnused(t *testing.T) {
	draws := func(ask bool) string {
		promise, channel := workflow.NewPromise[int](), workflow.NewChannel[int](1, "")
		var wg workflow.WaitGroup
		var draw func() int
		acts := map[string]func(){
			"workflow.Promise.Resolve called": func() { promise.Resolve(7) },
			"workflow.Promise.Fail called":    func() { promise.Fail(errors.New("no")) },
			"workflow.WaitGroup.Add called":   func() { wg.Add(1) },
			"workflow.Channel.Close called":   func() { channel.Close() },
			"called":                          func() { draw() },
		}
		var act func()
		r := newRig(define(func(c ctx) (string, error) {
			dice := workflow.Random(c)
			draw = func() int { return dice.IntN(1 << 30) }
			sumOf.Handle(c, func(int) (int, error) { act(); return 1, nil })
			more.Handle(c, func(ctx, int) (int, error) { return draw(), nil }, nil)
			return approved.Receive(c)
		}))
		defer r.m.Close()
		mustStep(t, r, started())
		for verb, fn := range acts {
			if act = fn; ask {
				_, err := r.m.Query("sum", journal.Payload{Data: []byte("1")})
				if !errors.Is(err, workflow.ErrReadOnly) || !strings.Contains(err.Error(), verb+" by code that may only read at ") {
					t.Errorf("%q: %v", verb, err)
				}
			}
		}
		if promise.Future().Ready() || channel.Closed() {
			t.Error("a query has changed something")
		}
		mustStep(t, r, updateOf(1, "5"))
		return string(r.m.Take().Replies[0].Payload.Data)
	}
	if quiet, asked := draws(false), draws(true); quiet != asked {
		t.Errorf("queries have drawn from the generator: the next number is %s, not %s", asked, quiet)
	}
}

// TestUnboundIsFree: outside of read-only code, things that belong to no run may be prepared.
func TestUnboundIsFree(t *testing.T) {
	if err := replay.Unbound(); err != nil {
		t.Error(err)
	}
	p := workflow.NewPromise[int]()
	var wg workflow.WaitGroup
	wg.Add(1)
	if !p.Resolve(1) {
		t.Error("a promise cannot be prepared")
	}
}

// TestConditionsOfOthersChangeNothingUnused: the same for a condition that another strand tests, and
// behind that strand's own.
func TestConditionsOfOthersChangeNothingUnused(t *testing.T) {
	promise, on := workflow.NewPromise[int](), false
	r := newRig(define(func(c ctx) (string, error) {
		workflow.Go(c, func(c ctx) { _ = workflow.Await(c, func() bool { return false }) })
		workflow.Go(c, func(c ctx) { _ = workflow.Await(c, func() bool { return on && promise.Resolve(1) }) })
		v, err := approved.Receive(c)
		if on = true; err != nil {
			return v, err
		}
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	if _, err := r.step(signalOf(1, "approved", `"x"`)); !errors.Is(err, workflow.ErrReadOnly) || promise.Future().Ready() {
		t.Errorf("%v; the promise is resolved: %v", err, promise.Future().Ready())
	}
	promise.Resolve(2) // whoever reads no more is not held for a reader
}
