package journaltest

import (
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestFaultyCommitInATransaction: a store finds out what became of a step's transaction, so its
// caller always knows.
func TestFaultyCommitInATransaction(t *testing.T) {
	t.Parallel()
	for fault, lost := range map[faulty.Fault]bool{faulty.None: false, faulty.Before: true, faulty.After: false, faulty.Unknown: false} {
		k := newKit(t, faulty.New(memory.New(nil), &faulty.Options{Decide: faulty.OnNth(1, fault, "commit")}))
		o := k.one(k.join(leaseLong).ID())
		c := o.build(keep, started())
		var err error
		c.Tx, err = k.j.Begin(k.ctx)
		k.ok(err)
		done := 0
		c.Tx.Value().(*memory.Effects).Do(func() { done++ })
		out, err := k.commits(c)
		k.ok(err)
		if events := len(k.history(o.run).Events); errors.Is(out[0].Err, journal.ErrTxLost) != lost || events != done || (done == 0) != lost {
			t.Errorf("%s: %v, %d events, %d effects", fault, out[0].Err, events, done)
		}
	}
	f := faulty.New(memory.New(nil), &faulty.Options{Decide: faulty.OnNth(1, faulty.After, "begin")})
	if _, err := f.Begin(t.Context()); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("begin: %v", err)
	}
}
