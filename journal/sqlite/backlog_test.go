package sqlite_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// TestBacklog: what is due is counted by route, over all priorities, and what is owned, parked,
// quarantined or due later is not.
func TestBacklog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.start(journal.Start{}, journal.Start{Priority: 1}, journal.Start{Priority: 5}, journal.Start{Queue: "b", Version: 2},
		journal.Start{Queue: "later", Delay: time.Hour}, journal.Start{Owner: w.node}, journal.Start{}, journal.Start{Queue: "gone"})
	w.exec(`UPDATE reprise_tasks SET visible_at = visible_at - 60000000 WHERE priority = 5`)
	w.exec(`UPDATE reprise_tasks SET state = 2 WHERE queue = 'gone'`)
	w.exec(`UPDATE reprise_tasks SET visible_at = NULL WHERE run_id = (SELECT max(run_id) FROM reprise_tasks WHERE queue = 'default')`)
	for _, s := range []*sqlite.Store{w.s, open(t, w.path, reading)} {
		got, err := sqlite.Backlog(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		want := []driver.Backlog{
			{Route: journal.Route{Queue: "b", Workflow: "flow", Version: 2}, Due: 1},
			{Route: flowRoute, Due: 3},
			{Route: journal.Route{Queue: "later", Workflow: "flow", Version: 1}},
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(driver.Backlog{}, "Oldest")); d != "" {
			t.Fatalf("backlog (-want +got):\n%s", d)
		}
		if age := time.Since(got[1].Oldest); age < time.Minute || age > time.Hour || got[0].Oldest.Before(got[1].Oldest) || !got[2].Oldest.IsZero() {
			t.Errorf("oldest %v, %v and %v", got[0].Oldest, got[1].Oldest, got[2].Oldest)
		}
	}
}
