package schedule

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// TestStatusesOnSeveralPages: the statuses of all runs are read, however few a page has. A run without
// one counts as ended, and the next would start beside it.
func TestStatusesOnSeveralPages(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	j := journal.New(faulty.OnePerPage{Store: store}, nil)
	started, err := driver.Of(j).Start(t.Context(), nil, []journal.Start{{Workflow: "w"}, {Workflow: "w"}, {Workflow: "w"}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []journal.RunID
	for _, s := range started {
		ids = append(ids, s.Run)
	}
	found, err := statuses(t.Context(), runtime.NewClient(j, nil), ids)
	if err != nil || len(found) != 3 {
		t.Errorf("%d statuses of 3, %v", len(found), err)
	}
}
