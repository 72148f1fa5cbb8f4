package journaltest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// TestFaultyFailsTheNthCall: what happened of a call that failed, at once and behind the next one.
func TestFaultyFailsTheNthCall(t *testing.T) {
	t.Parallel()
	for fault, want := range map[Fault][2]int{FaultNone: {1, 2}, FaultBefore: {0, 1}, FaultAfter: {1, 2}, FaultUnknown: {0, 2}} {
		m := NewMemory(nil)
		f := NewFaulty(m, &FaultyOptions{Decide: OnNth(2, fault, "start", "send")})
		start := func() error {
			_, err := f.Start(t.Context(), nil, []journal.Start{{ID: journal.NewRunID(), Workflow: flow, Priority: 3}})
			return err
		}
		if _, err := f.Send(t.Context(), nil, nil); err != nil { // the first that matches
			t.Fatal(err)
		}
		if _, err := f.Nodes(t.Context()); err != nil { // matches nothing
			t.Fatal(err)
		}
		for i, runs := range want {
			err := start()
			if failed := i == 0 && fault != FaultNone; failed != errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("%s: start %d: %v", fault, i, err)
			}
			if got := len(m.State().Runs); got != runs {
				t.Errorf("%s: %d runs after start %d, want %d", fault, got, i, runs)
			}
		}
	}
}

func TestFaultyTellsOfCalls(t *testing.T) {
	t.Parallel()
	var decided, answered []Call
	f := NewFaulty(NewMemory(nil), &FaultyOptions{
		Decide: func(c Call) Fault {
			decided = append(decided, c)
			if c.Verb == "claim" && c.Nth == 1 {
				return FaultBefore
			}
			return FaultNone
		},
		Answer: func(c Call) { answered = append(answered, c) },
	})
	m, err := f.Join(t.Context(), journal.Node{Name: "n", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{journal.ErrUnavailable, nil} {
		if _, err := f.Claim(t.Context(), journal.ClaimRequest{Node: m.ID()}); !errors.Is(err, want) {
			t.Errorf("claim: %v, want %v", err, want)
		}
	}
	want := []Call{{"join", 1, 1, 1, 0}, {"claim", 1, 2, 1, m.ID()}, {"claim", 2, 3, 1, m.ID()}}
	if !slices.Equal(decided, want) || !slices.Equal(answered, []Call{want[0], want[2]}) || f.Faults() != 1 {
		t.Errorf("decided over %v, answered %v, %d faults", decided, answered, f.Faults())
	}
}

// TestFaultyCommitInATransaction: a store finds out what became of a step's transaction, so its caller always knows.
func TestFaultyCommitInATransaction(t *testing.T) {
	t.Parallel()
	for fault, lost := range map[Fault]bool{FaultNone: false, FaultBefore: true, FaultAfter: false, FaultUnknown: false} {
		k := newKit(t, NewFaulty(NewMemory(nil), &FaultyOptions{Decide: OnNth(1, fault, "commit")}))
		o := k.one(k.join(leaseLong).ID())
		c := o.build(keep, started())
		var err error
		c.Tx, err = k.j.Begin(k.ctx)
		k.ok(err)
		done := 0
		c.Tx.Value().(*Effects).Do(func() { done++ })
		out, err := k.commits(c)
		k.ok(err)
		if events := len(k.history(o.run).Events); errors.Is(out[0].Err, journal.ErrTxLost) != lost || events != done || (done == 0) != lost {
			t.Errorf("%s: %v, %d events, %d effects", fault, out[0].Err, events, done)
		}
	}
	f := NewFaulty(NewMemory(nil), &FaultyOptions{Decide: OnNth(1, FaultAfter, "begin")})
	if _, err := f.Begin(t.Context()); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("begin: %v", err)
	}
}

func TestFaultyHints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(nil)
		fates := map[journal.HintKind][]time.Duration{
			journal.HintTasks: nil, journal.HintInbox: {0}, journal.HintClosed: {0, time.Second}, journal.HintScan: {time.Hour},
		}
		f := NewFaulty(m.Peer(), &FaultyOptions{Hint: func(h journal.Hint) []time.Duration { return fates[h.Kind] }})
		ears := make(chan journal.HintKind, 10)
		var heard []journal.HintKind
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = m.Hints().Watch(ctx, func(h journal.Hint) { ears <- h.Kind }) }()
		if kind := <-ears; kind != journal.HintScan {
			t.Errorf("the first hint is %v", kind)
		}
		f.Hints().Notify([]journal.Hint{{Kind: journal.HintScan}, {Kind: journal.HintClosed}, {Kind: journal.HintTasks}, {Kind: journal.HintInbox}})
		want := []journal.HintKind{journal.HintClosed, journal.HintInbox, journal.HintClosed, journal.HintScan}
		for i, wait := range []time.Duration{0, time.Second, time.Hour} {
			time.Sleep(wait)
			synctest.Wait()
			for len(ears) > 0 {
				heard = append(heard, <-ears)
			}
			if n := i + 2; !slices.Equal(heard, want[:n]) {
				t.Errorf("after %s: heard %v, want %v", wait, heard, want[:n])
			}
		}
	})
}
