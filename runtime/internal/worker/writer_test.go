package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/held"
)

// faultyStore answers loads and commits as a test says. Other verbs are not for it.
type faultyStore struct {
	driver.Store
	load   func([]driver.LoadRequest) ([]driver.History, error)
	commit func([]driver.Commit) ([]driver.Outcome, error)
}

func (s *faultyStore) Load(_ context.Context, r []driver.LoadRequest) ([]driver.History, error) {
	return s.load(r)
}

func (s *faultyStore) Commit(_ context.Context, c []driver.Commit) ([]driver.Outcome, error) {
	return s.commit(c)
}

// Hints implements driver.Store: there are none.
func (s *faultyStore) Hints() driver.Hints { return noHints{} }

type noHints struct{}

func (noHints) Notify([]driver.Hint) {}
func (noHints) Watch(ctx context.Context, _ func(driver.Hint)) error {
	<-ctx.Done()
	return nil
}

// One history that cannot be read does not block the runs whose loads share its batch.
func TestOneBadLoadFailsAlone(t *testing.T) {
	bad, errBad := journal.NewRunID(), errors.New("malformed")
	s := &faultyStore{load: func(rs []driver.LoadRequest) ([]driver.History, error) {
		if slices.ContainsFunc(rs, func(r driver.LoadRequest) bool { return r.Run == bad }) {
			return nil, errBad
		}
		return make([]driver.History, len(rs)), nil
	}}
	w := newWriter(t.Context(), driver.New(s, nil), 1)
	for i, a := range w.loadBatch([]driver.LoadRequest{{Run: journal.NewRunID()}, {Run: bad}, {Run: journal.NewRunID()}}) {
		if (a.err != nil) != (i == 1) {
			t.Errorf("load %d: %v", i, a.err)
		}
	}
}

// One turn that makes the store refuse a whole batch fails alone (J2).
func TestOneBadCommitFailsAlone(t *testing.T) {
	bad, errBad := journal.NewRunID(), errors.New("a trigger of somebody's")
	s := &faultyStore{commit: func(cs []driver.Commit) ([]driver.Outcome, error) {
		if slices.ContainsFunc(cs, func(c driver.Commit) bool { return c.Run == bad }) {
			return nil, errBad
		}
		return make([]driver.Outcome, len(cs)), nil
	}}
	w := newWriter(t.Context(), driver.New(s, nil), 1)
	commits := []driver.Commit{{Run: journal.NewRunID()}, {Run: bad}, {Run: journal.NewRunID()}}
	for i := range commits {
		commits[i].Node, commits[i].Fence, commits[i].Generation, commits[i].Next.Kind = 1, 1, 1, driver.NextKeep
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
	w := newWriter(t.Context(), driver.New(&faultyStore{}, nil), 1)
	tx := &countedTx{}
	done := make(chan driver.Outcome, 1)
	w.Submit(driver.Commit{Run: journal.NewRunID(), Tx: tx, Attempts: make([]journal.Attempt, journal.AttemptsMax+1)},
		func(o driver.Outcome) { done <- o })
	if o := <-done; o.Err == nil || tx.rollbacks != 1 {
		t.Errorf("outcome %v, %d rollbacks", o.Err, tx.rollbacks)
	}
	w.wait()
}

// Only a commit that notes failed attempts, and nothing else, can wait.
func TestOnlyRetriesCanWait(t *testing.T) {
	failed := func(change func(*driver.Commit)) *driver.Commit {
		c := &driver.Commit{Attempts: make([]journal.Attempt, 1), Next: driver.Next{Kind: driver.NextPark}}
		change(c)
		return c
	}
	for what, c := range map[string]struct {
		change func(*driver.Commit)
		want   bool
	}{
		"a park":          {func(*driver.Commit) {}, true},
		"kept":            {func(c *driver.Commit) { c.Next.Kind = driver.NextKeep }, true},
		"the first event": {func(c *driver.Commit) { c.Events = []journal.Event{{Kind: journal.RunStarted}} }, true},
		"no attempt":      {func(c *driver.Commit) { c.Attempts = nil }, false},
		"an outcome":      {func(c *driver.Commit) { c.Events = []journal.Event{{Kind: journal.StepCompleted}} }, false},
		"an event besides": {func(c *driver.Commit) {
			c.Events = []journal.Event{{Kind: journal.RunStarted}, {Kind: journal.StepCompleted}}
		}, false},
		"a close":   {func(c *driver.Commit) { c.Next.Kind = driver.NextClose }, false},
		"a release": {func(c *driver.Commit) { c.Next.Kind = driver.NextRelease }, false},
		"a reply":   {func(c *driver.Commit) { c.Replies = make([]journal.Reply, 1) }, false},
		"a pause":   {func(c *driver.Commit) { c.Pause = "exhausted" }, false},
	} {
		if got := onlyRetries(failed(c.change)); got != c.want {
			t.Errorf("%s: can wait %t, want %t", what, got, c.want)
		}
	}
}

// A commit that takes long is reported while the store answers otherwise.
func TestSlowCommitsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faultyStore{commit: func(cs []driver.Commit) ([]driver.Outcome, error) {
			time.Sleep(5 * time.Second)
			return make([]driver.Outcome, len(cs)), nil
		}}
		var text bytes.Buffer
		w := newWriter(t.Context(), driver.New(s, nil), 1)
		w.slow.Log, w.slow.What = slog.New(slog.NewTextHandler(&text, nil)), held.SlowCall
		run := journal.NewRunID()
		w.commitBatch([]driver.Commit{{Run: run, Node: 1, Fence: 1, Generation: 1, Next: driver.Next{Kind: driver.NextKeep}}})
		synctest.Wait() // for whoever wrote the line
		if got := text.String(); strings.Count(got, held.SlowCall) != 1 || !strings.Contains(got, run.String()) {
			t.Errorf("the log is %q, want one line about run %s", got, run)
		}
	})
}
