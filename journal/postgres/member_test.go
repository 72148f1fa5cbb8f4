package postgres_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestRenewalTellsWhenToClaim: a renewal looks at everything a poll would, so that an idle node
// need not poll.
func TestRenewalTellsWhenToClaim(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	j := driver.New(open(t, dsn, nil), nil)
	m, err := j.Join(t.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	next := func(what string, want time.Time) {
		t.Helper()
		r, err := m.Look(t.Context())
		if err != nil || !r.Polled || !r.NextDue.Equal(want) {
			t.Errorf("%s: %+v, %v, want it due at %s", what, r, err, want)
		}
	}
	next("an empty queue", time.Time{})
	start(t, j, journal.Start{Workflow: "another"})
	next("nothing that the node serves", time.Time{})
	later := start(t, j, journal.Start{Delay: 2 * time.Hour, Priority: 1})
	next("a delayed run", later.StartAt)
	sooner := start(t, j, journal.Start{Delay: time.Hour, Priority: 5})
	next("one that is due before", sooner.StartAt)
	now := start(t, j, journal.Start{})
	next("one that is due", now.StartAt)
	c := claimOne(t, j, m.ID())
	next("it was claimed", sooner.StartAt)
	send(t, j, journal.Message{Run: c.Run.ID, Kind: journal.MessageSignal, Name: "sig"})
	if r, err := m.Look(t.Context()); err != nil || r.NextDue.IsZero() || r.NextDue.After(j.Now().Add(time.Second)) {
		t.Errorf("an owned run has a message: %+v, %v", r, err)
	}
	commit(t, j, commitOf(j, c, closing, began(), journal.Event{Kind: journal.SignalReceived, Inbox: 1, Name: "sig"}, completed()))
	next("it was closed", sooner.StartAt)
}
