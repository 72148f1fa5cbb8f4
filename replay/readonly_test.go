package replay_test

import (
	"errors"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// refusals calls every kind of verb and returns what each was refused with.
func refusals(c ctx) map[string]error {
	panics := func(fn func()) (err error) {
		defer func() { err, _ = recover().(error) }()
		fn()
		return nil
	}
	_, stepErr := step(c, "refused")
	_, asyncErr := async(c, "refused").Get(c)
	_, receive := approved.Receive(c)
	_, _, receiveTimeout := approved.ReceiveTimeout(c, 0)
	_, choose := workflow.Select(c, workflow.OnSignal(approved, nil), workflow.Default(nil))
	_, call := workflow.Call(c, kidName, "", nil)
	_, callAsync := workflow.CallAsync(c, kidName, "", nil).Get(c)
	_, sendAsync := number.SendAsync(c, somebody, 1).Get(c)
	return map[string]error{
		"Call": call, "CallAsync": callAsync, "Send": number.Send(c, somebody, 1), "SendAsync": sendAsync,
		"CancelRun": workflow.CancelRun(c, somebody, ""), "ContinueAsNew": workflow.ContinueAsNew(c, generations, nil, nil),
		"HandlersFinished":    workflow.HandlersFinished(c),
		"SideEffect":          panics(func() { workflow.SideEffect(c, "x", func() int { return 1 }) }),
		"SideEffectIfChanged": panics(func() { workflow.SideEffectIfChanged(c, "x", func() int { return 1 }, nil) }),
		"Changed":             panics(func() { workflow.Changed(c, "x") }),
		"ChangeScope":         panics(func() { workflow.ChangeScope(c) }),
		"Query.Handle":        panics(func() { sumOf.Handle(c, nil) }),
		"Update.Handle":       panics(func() { more.Handle(c, nil, nil) }),
		"Step":                stepErr, "StepAsync": asyncErr, "Receive": receive, "ReceiveTimeout": receiveTimeout, "Select": choose,
		"Sleep":      workflow.Sleep(c, time.Second),
		"Sleep(0)":   workflow.Sleep(c, 0),
		"Go":         panics(func() { workflow.Go(c, func(ctx) {}) }),
		"NewTimer":   panics(func() { workflow.NewTimer(c, time.Second) }),
		"WithCancel": panics(func() { workflow.WithCancel(c) }),
		"Random":     panics(func() { workflow.Random(c) }),
		"UUID":       panics(func() { workflow.UUID(c) }),
	}
}

// TestReadOnly: code that may only read is refused everything else, within a strand and while the
// machine is at rest, and leaves no trace.
func TestReadOnly(t *testing.T) {
	var kept ctx
	var current *replay.Env
	var got map[string]error
	def := define(func(c ctx) (string, error) {
		kept = c
		current.ReadOnly(func() { got = refusals(c) })
		return step(c, "work")
	})
	inner := def.Run
	def.Run = func(sc *replay.Scope, in journal.Payload) (journal.Payload, error) {
		current = sc.Env()
		return inner(sc, in)
	}
	check := func(t *testing.T) {
		for verb, err := range got {
			if !errors.Is(err, workflow.ErrReadOnly) {
				t.Errorf("%s: %v", verb, err)
			}
		}
	}
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	if issued, steps := r.history[0].Issued, r.m.Take().Steps; len(issued) != 1 || len(steps) != 1 {
		t.Errorf("issued %v", issued)
	}
	t.Run("in a strand", check)
	got = nil
	r.m.Env().ReadOnly(func() {
		got = refusals(kept)
		if kept.Now() != epoch || kept.Err() != nil || approved.Pending(kept) != 0 {
			t.Error("reading is refused")
		}
	})
	t.Run("at rest", check)
	mustStep(t, r, completed(1, "work", `"done"`))
	got = nil
	r.m.Env().ReadOnly(func() { got = refusals(kept) })
	t.Run("finished", check)
	if err := r.m.Env().Inside(); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("afterwards: %v", err)
	}
	checkPrefixes(t, def, r.history)
}

// TestPredicatesAllocateNothing: conditions that strands wait for are tested after every event, so
// what a test costs is paid by every event as often as strands wait.
func TestPredicatesAllocateNothing(t *testing.T) {
	allocations := func(strands int) float64 {
		m := replay.New(define(func(c ctx) (string, error) {
			for range strands {
				workflow.Go(c, func(c ctx) { _ = workflow.Await(c, func() bool { return false }) })
			}
			for {
				if _, err := approved.Receive(c); err != nil {
					return "", err
				}
			}
		}), replay.Info{}, journal.New(nil, nil))
		defer m.Close()
		step := func(ev journal.Event) {
			ev.Seq, ev.Time = m.LastSeq()+1, epoch
			if err := m.Step(&ev); err != nil {
				t.Fatal(err)
			}
		}
		step(journal.Event{Kind: journal.RunStarted})
		return testing.AllocsPerRun(20, func() {
			step(journal.Event{Kind: journal.SignalReceived, Name: "approved", Inbox: 1, Payload: journal.Payload{Data: []byte(`"x"`)}})
		})
	}
	if few, many := allocations(1), allocations(1000); many > few+10 {
		t.Errorf("an event allocates %v times if one strand waits for a condition, %v times if a thousand do", few, many)
	}
}
