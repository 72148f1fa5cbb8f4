package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// ownedStarts is a localStarts that records what it does.
func ownedStarts(room int) (l *localStarts, activated *[]journal.RunID, reconciled *int) {
	activated, reconciled = new([]journal.RunID), new(int)
	return &localStarts{
		node: 7, routes: func() []journal.Route { return []journal.Route{{Queue: "q", Workflow: "w", Version: 1}} },
		room:      func() int { return room },
		activate:  func(c driver.Claimed) { *activated = append(*activated, c.Run.ID) },
		reconcile: func() { *reconciled++ },
	}, activated, reconciled
}

func startOf(workflow string) journal.Start {
	return journal.Start{ID: journal.NewRunID(), Queue: "q", Workflow: workflow, Version: 1}
}

// A batch owns what the node can execute at once, as far as there is room, and nothing else.
func TestStartBatchOwnsWhatTheNodeCanRun(t *testing.T) {
	l, activated, reconciled := ownedStarts(2)
	starts := []journal.Start{startOf("w"), startOf("other"), startOf("w"), startOf("w"), startOf("w")}
	starts[2].Delay = time.Second
	b := StartBatch{local: l}
	var owned []bool
	for i := range starts {
		b.Own(&starts[i])
		owned = append(owned, starts[i].Owner == 7)
	}
	if want := []bool{true, false, false, true, false}; !slices.Equal(owned, want) {
		t.Errorf("owned %v, want %v", owned, want)
	}
	for i := range starts { // the store made the first, and found an older run in place of the fourth
		b.Settle(&starts[i], &journal.Started{Run: starts[i].ID, Created: i != 3, Owned: i == 0})
	}
	b.End()
	if want := []journal.RunID{starts[0].ID}; !slices.Equal(*activated, want) {
		t.Errorf("activated %v, want %v", *activated, want)
	}
	if *reconciled != 0 {
		t.Error("reconciles, although every answer is known")
	}
}

// Without an answer the node may own the run all the same, and asks once. Of starts that it does
// not own it need not ask.
func TestStartBatchReconcilesWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		workflow string
		want     int
	}{"owned": {"w", 1}, "not owned": {"other", 0}} {
		l, activated, reconciled := ownedStarts(10)
		b := StartBatch{local: l}
		starts := []journal.Start{startOf(c.workflow), startOf(c.workflow)}
		for i := range starts {
			b.Own(&starts[i])
		}
		for i := range starts {
			b.Settle(&starts[i], nil)
		}
		if *reconciled > 0 {
			t.Errorf("%s: reconciles while the batch is inside the gate", name)
		}
		b.End()
		if *reconciled != c.want || len(*activated) > 0 {
			t.Errorf("%s: reconciled %d times, want %d; activated %d", name, *reconciled, c.want, len(*activated))
		}
	}
}

// Once the gate is closed a batch owns nothing, and the gate waits for those that entered before.
func TestStartBatchAtTheEndOfTheMembership(t *testing.T) {
	l, _, _ := ownedStarts(10)
	early, late := StartBatch{local: l}, StartBatch{local: l}
	first, second := startOf("w"), startOf("w")
	early.Own(&first)
	l.gate.close()
	late.Own(&second)
	again := startOf("w")
	again.Owner = 7 // since an earlier batch, which was set aside
	late.Own(&again)
	if first.Owner != 7 || second.Owner != 0 || again.Owner != 0 {
		t.Errorf("owners %d, %d and %d", first.Owner, second.Owner, again.Owner)
	}
	late.Settle(&again, &journal.Started{Run: again.ID, Created: true, Owned: true}) // must not panic
	late.End()
	select {
	case <-l.gate.empty:
		t.Error("the gate does not wait for the batch that entered before it was closed")
	default:
	}
	early.End()
	l.gate.wait(t.Context())
}

// A child that is cancelled in the turn that starts it is left to a claim, which reads its inbox first.
func TestCancelledChildIsNotOwned(t *testing.T) {
	l, _, _ := ownedStarts(10)
	c := driver.Commit{Starts: []journal.Start{startOf("w"), startOf("w")}}
	c.Messages = []journal.Message{
		{Run: c.Starts[0].ID, Kind: journal.MessageSignal}, {Run: c.Starts[1].ID, Kind: journal.MessageCancel},
	}
	b := StartBatch{local: l}
	ownChildren(&b, []driver.Commit{c})
	b.End()
	if c.Starts[0].Owner != 7 || c.Starts[1].Owner != 0 {
		t.Errorf("owners %d and %d, want 7 and none", c.Starts[0].Owner, c.Starts[1].Owner)
	}
}
