package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

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
	got, err := postgres.Settings(t.Context(), open(t, dsn, nil), "statement_timeout", "enable_seqscan", "no_such_setting")
	if d := cmp.Diff(map[string]string{"statement_timeout": "3000", "enable_seqscan": "on"}, got); d != "" || err != nil {
		t.Errorf("settings (-want +got):\n%s%v", d, err)
	}
}

// TestSessionsAreOfOneMind: whatever a database says, the store's sessions plan and see as its
// statements expect, also after they were reset.
func TestSessionsAreOfOneMind(t *testing.T) {
	t.Parallel()
	want := map[string][2]string{ // what the database says, and what the sessions have
		"enable_seqscan": {"on", "off"}, "enable_hashjoin": {"on", "off"}, "enable_mergejoin": {"on", "off"}, "jit": {"on", "off"},
		"plan_cache_mode": {"force_custom_plan", "force_generic_plan"}, "default_transaction_isolation": {"serializable", "read committed"},
		"tcp_keepalives_idle": {"7200", "15"}, "tcp_keepalives_interval": {"75", "5"}, "tcp_user_timeout": {"0", "20000"},
	}
	dsn := pgtest.New(t)
	admin := connect(t, dsn)
	for name, value := range want {
		mustExec(t, admin, fmt.Sprintf("ALTER DATABASE %q SET %s = '%s'", admin.Config().Database, name, value[0]))
	}
	w := newTxWorld(t, dsn)
	for _, when := range []string{"begun", "reset by a step"} {
		err := w.s.OnPool(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
			for name, value := range want {
				var got string
				if err := c.QueryRow(ctx, "SHOW "+name).Scan(&got); err != nil || got != value[1] {
					t.Errorf("a session that was %s has %s = %s, want %s (%v)", when, name, got, value[1], err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := commitOf(w.j, owned(t, w.j, w.node), keep, began())
		c.Tx = w.step()
		if _, err := c.Tx.Value().(pgx.Tx).Exec(t.Context(), "RESET ALL"); err != nil {
			t.Fatal(err)
		}
		commit(t, w.j, c)
	}
}
