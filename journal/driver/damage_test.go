package driver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// orphaned is a store whose listings cannot read the parents of runs.
type orphaned struct{ driver.Store }

func (orphaned) List(context.Context, journal.ListFilter) (journal.RunPage, error) {
	run := journal.Run{ID: journal.NewRunID()}
	_ = driver.DamagedPart(&run, "row", journal.ErrDamaged)
	return journal.RunPage{Runs: []journal.Run{run}}, nil
}

// A child whose row is damaged has its parent in a listing of children, whose callers rely on it.
func TestADamagedChildHasItsParent(t *testing.T) {
	t.Parallel()
	j, parent := driver.New(orphaned{}, nil), journal.NewRunID()
	for _, f := range []journal.ListFilter{{}, {Parent: parent}} {
		page, err := j.List(t.Context(), f)
		if err != nil || len(page.Runs) != 1 || (page.Runs[0].Parent == nil) != f.Parent.IsZero() || f.Parent == parent && page.Runs[0].Parent.Run != parent {
			t.Errorf("%+v, %v", page, err)
		}
	}
}

// damagedStore cannot read one run, and fails every call that is about it.
type damagedStore struct {
	driver.Store
	lost  journal.RunID
	err   error
	calls int
}

func (s *damagedStore) Load(_ context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	s.calls++
	out := make([]driver.History, len(requests))
	for i, q := range requests {
		if q.Run == s.lost {
			return nil, s.err
		}
		out[i].Run.ID = q.Run
	}
	return out, nil
}

// A call that meets damage is divided until the member that it is about is alone. One that waits
// for an answer hears that nobody can tell; an error about the whole store is nobody's.
func TestDamageIsDivided(t *testing.T) {
	t.Parallel()
	runs := make([]driver.LoadRequest, 100)
	for i := range runs {
		runs[i].Run, runs[i].Bytes = journal.NewRunID(), 1 // many make one call
	}
	damage := fmt.Errorf("page 7: %w", journal.ErrDamaged)
	s := &damagedStore{lost: runs[37].Run, err: damage}
	j := driver.New(s, nil)
	list, err := j.Load(t.Context(), runs)
	if err != nil || len(list) != len(runs) || s.calls > 20 {
		t.Fatalf("%d histories by %d calls, %v", len(list), s.calls, err)
	}
	for i, h := range list {
		unreadable, ok := errors.AsType[*journal.UnreadableError](h.Err)
		if h.Run.ID != runs[i].Run || ok != (i == 37) || ok && (unreadable.Run != runs[i].Run || !errors.Is(h.Err, damage)) {
			t.Errorf("history %d is of %s: %v", i, h.Run.ID, h.Err)
		}
	}
	waiting := slices.Clone(runs[36:39])
	for i := range waiting {
		waiting[i].Answer = 1
	}
	if list, err = j.Load(t.Context(), waiting); err != nil || list[0].Err != nil || list[2].Err != nil {
		t.Fatal(list, err)
	}
	if _, partly := errors.AsType[*journal.UnreadableError](list[1].Err); partly || !errors.Is(list[1].Err, damage) {
		t.Errorf("who waits for an answer hears %v", list[1].Err)
	}
	s.err, s.calls = fmt.Errorf("%w: %w", journal.ErrUnavailable, damage), 0
	if _, err = j.Load(t.Context(), runs); !errors.Is(err, journal.ErrUnavailable) || s.calls != 1 {
		t.Errorf("a store that is damaged as a whole: %v by %d calls", err, s.calls)
	}
}
