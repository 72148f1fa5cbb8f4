package runtime

import (
	"context"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// onePerPage is a store whose pages have no room for a second run.
type onePerPage struct{ *memory.Store }

func (s onePerPage) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	f.Limit = 1
	return s.Store.List(ctx, f)
}

// TestHoldersOnSeveralPages: all holders of a limit are read, however few a page has.
func TestHoldersOnSeveralPages(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	j := driver.New(onePerPage{store}, nil)
	started, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "w"}, {Workflow: "w"}, {Workflow: "w"}})
	if err != nil {
		t.Fatal(err)
	}
	wait := &LimitWait{}
	for _, s := range started {
		wait.Holders = append(wait.Holders, journal.LimitClaim{Run: s.Run})
	}
	runs, err := readHolders(t.Context(), j, &limitWaits{reasons: []Reason{{Limit: wait}}})
	if err != nil || len(runs) != 3 {
		t.Errorf("%d holders of 3, %v", len(runs), err)
	}
}
