package driver_test

import (
	"context"
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
