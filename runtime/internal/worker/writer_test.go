package worker

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// faultyStore answers loads and commits as a test says. Other verbs are not for it.
type faultyStore struct {
	journal.Store
	load   func([]journal.LoadRequest) ([]journal.History, error)
	commit func([]journal.Commit) ([]journal.Outcome, error)
}

func (s *faultyStore) Load(_ context.Context, r []journal.LoadRequest) ([]journal.History, error) {
	return s.load(r)
}

func (s *faultyStore) Commit(_ context.Context, c []journal.Commit) ([]journal.Outcome, error) {
	return s.commit(c)
}

// Hints implements journal.Store: there are none.
func (s *faultyStore) Hints() journal.Hints { return noHints{} }

type noHints struct{}

func (noHints) Notify([]journal.Hint) {}
func (noHints) Watch(ctx context.Context, _ func(journal.Hint)) error {
	<-ctx.Done()
	return nil
}

// One history that cannot be read does not block the runs whose loads share its batch.
func TestOneBadLoadFailsAlone(t *testing.T) {
	bad, errBad := journal.NewRunID(), errors.New("malformed")
	s := &faultyStore{load: func(rs []journal.LoadRequest) ([]journal.History, error) {
		if slices.ContainsFunc(rs, func(r journal.LoadRequest) bool { return r.Run == bad }) {
			return nil, errBad
		}
		return make([]journal.History, len(rs)), nil
	}}
	w := newWriter(t.Context(), journal.New(s, nil), 1)
	for i, a := range w.loadBatch([]journal.LoadRequest{{Run: journal.NewRunID()}, {Run: bad}, {Run: journal.NewRunID()}}) {
		if (a.err != nil) != (i == 1) {
			t.Errorf("load %d: %v", i, a.err)
		}
	}
}

// One turn that makes the store refuse a whole batch fails alone (J2).
func TestOneBadCommitFailsAlone(t *testing.T) {
	bad, errBad := journal.NewRunID(), errors.New("a trigger of somebody's")
	s := &faultyStore{commit: func(cs []journal.Commit) ([]journal.Outcome, error) {
		if slices.ContainsFunc(cs, func(c journal.Commit) bool { return c.Run == bad }) {
			return nil, errBad
		}
		return make([]journal.Outcome, len(cs)), nil
	}}
	w := newWriter(t.Context(), journal.New(s, nil), 1)
	commits := []journal.Commit{{Run: journal.NewRunID()}, {Run: bad}, {Run: journal.NewRunID()}}
	for i := range commits {
		commits[i].Node, commits[i].Fence, commits[i].Generation, commits[i].Next.Kind = 1, 1, 1, journal.NextKeep
	}
	for i, o := range w.write(commits) {
		if (o.Err != nil) != (i == 1) {
			t.Errorf("commit %d: %v", i, o.Err)
		}
	}
}

type countedTx struct{ rollbacks int }

func (t *countedTx) Value() any                     { return nil }
func (t *countedTx) Rollback(context.Context) error { t.rollbacks++; return nil }

// A commit that is refused before the store sees it leaves no transaction behind.
func TestRefusedCommitEndsItsTx(t *testing.T) {
	w := newWriter(t.Context(), journal.New(&faultyStore{}, nil), 1)
	tx := &countedTx{}
	done := make(chan journal.Outcome, 1)
	w.Submit(journal.Commit{Run: journal.NewRunID(), Tx: tx, Attempts: make([]journal.Attempt, journal.AttemptsMax+1)},
		func(o journal.Outcome) { done <- o })
	if o := <-done; o.Err == nil || tx.rollbacks != 1 {
		t.Errorf("outcome %v, %d rollbacks", o.Err, tx.rollbacks)
	}
	w.wait()
}
