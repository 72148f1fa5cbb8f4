package api

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// TestRowsOnSeveralPages: the rows of all runs that somebody may see, or watches, are read, however
// few a page has.
func TestRowsOnSeveralPages(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	j := journal.New(faulty.OnePerPage{Store: store}, nil)
	client, f := runtime.NewClient(j, nil), newFeed(driver.Of(j), time.Second)
	started, err := driver.Of(j).Start(t.Context(), nil, []journal.Start{{Workflow: "w"}, {Workflow: "w"}, {Workflow: "w"}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []journal.RunID
	for _, s := range started {
		ids = append(ids, s.Run)
		defer f.leave(f.join(s.Run, ""))
	}
	reader := f.join(ids[0], "")
	defer f.leave(reader)
	if rows, err := f.rows(t.Context(), reader, client, time.Minute); err != nil || len(rows) != 3 {
		t.Errorf("%d rows of 3 that are watched, %v", len(rows), err)
	}
	if rows, err := rowsOf(&call{h: &handler{client: client}, ctx: t.Context()}, ids); err != nil || len(rows) != 3 {
		t.Errorf("%d rows of 3, %v", len(rows), err)
	}
}
