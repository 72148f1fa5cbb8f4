package runtime

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestHoldersOnSeveralPages: all holders of a limit are read, however few a page has.
func TestHoldersOnSeveralPages(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	j := driver.New(faulty.OnePerPage{Store: store}, nil)
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
