package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestBacklog: what is due is counted by route, over all priorities, and what is owned, parked,
// quarantined or due later is not.
func TestBacklog(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	s := open(t, dsn, nil)
	conn := connect(t, dsn)
	mustExec(t, conn, `
		INSERT INTO reprise.tasks (run_id, queue, workflow, version, priority, visible_at, owner, state)
		SELECT gen_random_uuid(), k.queue, 'flow', k.version, k.priority, now() + k.at, k.owner, k.state FROM (VALUES
			('default', 1, 3, interval '0', 0, 0), ('default', 1, 1, interval '0', 0, 0), ('default', 1, 5, interval '-1 minute', 0, 1),
			('b', 2, 3, interval '0', 0, 0), ('later', 1, 3, interval '1 hour', 0, 0), ('default', 1, 3, interval '0', 7, 0),
			('gone', 1, 3, interval '0', 0, 2)) AS k(queue, version, priority, at, owner, state)`)
	mustExec(t, conn, `INSERT INTO reprise.tasks (run_id, queue, workflow, version, priority, visible_at) VALUES (gen_random_uuid(), 'default', 'flow', 1, 3, 'infinity')`)
	got, err := postgres.Backlog(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []driver.Backlog{
		{Route: journal.Route{Queue: "b", Workflow: "flow", Version: 2}, Due: 1},
		{Route: journal.Route{Queue: "default", Workflow: "flow", Version: 1}, Due: 3},
		{Route: journal.Route{Queue: "later", Workflow: "flow", Version: 1}},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(driver.Backlog{}, "Oldest")); d != "" {
		t.Fatalf("backlog (-want +got):\n%s", d)
	}
	if age := time.Since(got[1].Oldest); age < time.Minute || age > time.Hour || got[0].Oldest.Before(got[1].Oldest) || !got[2].Oldest.IsZero() {
		t.Errorf("oldest %v, %v and %v", got[0].Oldest, got[1].Oldest, got[2].Oldest)
	}
}

// TestBacklogIsFlat: whatever waits, what is read of each route is the head of the index.
func TestBacklogIsFlat(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	var before int
	for _, backlog := range []int{200, 20_000} {
		mustExec(t, conn, backlogSQL, backlog)
		mustExec(t, conn, "VACUUM ANALYZE reprise.tasks")
		plan := explain(t, conn, sql["backlogSQL"], "1000", "100")
		plan.walk(func(n *planNode) {
			if n.Table == "tasks" && n.Type == "Seq Scan" || n.Removed > 0 {
				t.Errorf("with %d tasks %s %s removes %v rows", 4*backlog, n.Type, n.Index, n.Removed)
			}
		})
		blocks := plan.Hit + plan.Read
		if before > 0 && blocks > 2*before {
			t.Errorf("a look at the backlog touches %d blocks, %d with a hundredth of the tasks", blocks, before)
		}
		before = blocks
	}
}

// TestSettings: those of the role count, and not those that the store sets for itself.
func TestSettings(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	conn := connect(t, dsn)
	mustExec(t, conn, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''3s''', current_database()); END $$`)
	got, err := postgres.Settings(t.Context(), open(t, dsn, nil), "statement_timeout", "jit", "no_such_setting")
	if d := cmp.Diff(map[string]string{"statement_timeout": "3000", "jit": "on"}, got); d != "" || err != nil {
		t.Errorf("settings (-want +got):\n%s%v", d, err)
	}
}
