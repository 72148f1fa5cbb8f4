package postgres_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// plantMonthSQL makes runs as a program of a month leaves them: of a thousand, ten are open, one of them
// blocked, thirty have failed, and the others were completed. What is rare is one in a thousand.
const plantMonthSQL = `
WITH planted AS (
    SELECT n, (lpad(to_hex(n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
           now() - (($1::int - n) * (interval '30 days' / $1::int)) AS at, n % 1000 AS k
    FROM generate_series(1, $1::int) AS n
), written AS (
    INSERT INTO reprise.runs (id, created_at, closed_at, closed_seq, version, priority, status, holds_key, workflow, queue, key, labels, parent_run)
    SELECT id, at, CASE WHEN k >= 10 THEN at + (n::bigint * 7919 % 997) * interval '1 second' END, CASE WHEN k >= 10 THEN 2 END, 1 + k % 3, 3,
           CASE WHEN k < 10 THEN 0 WHEN k < 40 THEN 2 WHEN k < 42 THEN 3 ELSE 1 END,
           k <> 500, CASE WHEN k = 77 THEN 'rare' WHEN k % 3 = 0 THEN 'refund' ELSE 'order' END, 'default', CASE WHEN k <> 501 THEN 'key-' || n END,
           CASE WHEN k = 503 THEN '{"paid": "true", "app.kubernetes.io/name": "shop-web"}'::jsonb
           ELSE jsonb_build_object('region', (ARRAY['de', 'fr', 'it'])[1 + k % 3], 'total', (n % 5000)::text, 'customer', (n / 20)::text) END,
           CASE WHEN k = 600 THEN '00000000-0000-0000-0000-000000000001'::uuid END
    FROM planted
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, owner, version, priority, queue, workflow, state, waiting)
    SELECT id, 'infinity', CASE WHEN k = 5 THEN 7 ELSE 0 END, 1, 3, 'default', 'order', CASE WHEN k = 0 THEN 1 ELSE 0 END, 'signal paid'
    FROM planted WHERE k < 10
)
INSERT INTO reprise.events (run_id, at, link, generation, seq, kind, encoding, payload)
SELECT id, at, 1, 1, 2, CASE WHEN k < 40 THEN 21 WHEN k < 42 THEN 22 ELSE 20 END, CASE WHEN k < 42 THEN 'failure' END,
       CASE WHEN k < 42 THEN convert_to(format('{"type":"class%s","message":"m"}', k), 'UTF8') END
FROM planted WHERE k >= 10`

// plantMonth returns a connection to a database with that many runs, which is set up like the store's.
func plantMonth(t testing.TB, dsn string, runs int) *pgx.Conn {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	if err := postgres.Migrate(ctx, conn, pgtest.Schema); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off", "SET jit = off", "SET plan_cache_mode = force_custom_plan"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, plantMonthSQL, runs); err != nil {
		t.Fatal(err)
	}
	for _, sql := range offeredIndexes(t) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// offeredIndexes are the statements of docs/operating-postgres.md for indexes that operators make.
func offeredIndexes(t testing.TB) []string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/operating-postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(doc), "-- closed runs by time, and by duration\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the document has no statements that make indexes for listings")
	}
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(block), ";"), ";")
}

// shapes are what docs/finding-runs.md says an index finds. Each is asked for a page of 50.
var shapes = []string{
	`id = "00000000-0064-7000-8000-000000000064"`,
	`key = "key-4711"`,
	`key starts with "key-471"`,
	`key in ("key-4711", "key-4712") and status = completed`,
	`parent = "00000000-0000-0000-0000-000000000001"`,
	`status = open`,
	`status = "failed"`,
	`status = "cancelled" and workflow = "order"`,
	`status = "blocked"`,
	`status in ("failed", "blocked")`,
	`status in ("cancelled", "open", "terminated") order by created desc`,
	`status = "failed" and region = "de"`,
	`status = "failed" and total = 10`,
	`status in ("failed", "blocked") and total = 10 order by created asc`,
	`status = "failed" order by closed desc`,
	`status in ("failed", "terminated") order by closed asc`,
	`workflow = "rare"`,
	`workflow = "order" and version >= 2`,
	`closed between -2h and -1h`,
	`closed between -2h and -1h and total > 100 order by closed asc`,
	`closed > -20d order by closed desc`,
	`closed < -20d order by closed desc`,
	`workflow = "order" and status in ("failed", "blocked") and total > 100 and error.class = "class11" and closed between -2d and now order by duration desc`,
	`order by duration desc`,
	`duration > 16m order by duration asc`,
	`duration > 15m and status = failed`,
	`created between -2h and -1h`,
	`error.class = "class11"`,
	`error.class in ("class40", "class41") order by closed desc`,
	`label.customer = "100"`,
	`label.customer in ("100", "101") and region = "de"`,
	`node = 7`,
	`waiting starts with "signal"`,
	`order by created asc`,
	`key is not set`,
	`key is not set order by created asc`,
	`paid = true and workflow = "order"`,
	`label."app.kubernetes.io/name" starts with "shop"`,
	`label."app.kubernetes.io/name" is set and workflow = "order"`,
	`region is set and not region in ("de", "fr")`,
}

// pageOf is the size of the pages of shapes.
const pageOf = 50

// readsMax is how many rows a shape may read where it reads most: a few pages, which is less than
// there are failures. Those that have a second condition without an index read what it leaves out.
func readsMax(shape string) float64 {
	switch shape {
	case `duration > 15m and status = failed`: // one in ten
		return 15 * pageOf
	case `status = "failed" and total = 10`, `status in ("failed", "blocked") and total = 10 order by created asc`, // all that have failed
		`status = "failed" order by closed desc`, `status in ("failed", "terminated") order by closed asc`: // three in a hundred
		return 40 * pageOf
	}
	return 4 * pageOf
}

// TestFindReadsAPage: what a documented shape reads has to do with what it selects, and not with how
// many runs there are, or how many have its status. It counts rows, since a scan of all runs may be
// one of an index.
func TestFindReadsAPage(t *testing.T) {
	t.Parallel()
	const runs = 30_000 // all of them are in the statistics, and 900 have failed
	conn := plantMonth(t, pgtest.Empty(t), runs)
	for _, shape := range shapes {
		sql, args, err := postgres.FindStatement(&journal.ListFilter{Where: shape, Limit: pageOf}, time.Now())
		if err != nil {
			t.Errorf("%s: %v", shape, err)
			continue
		}
		plan, text, err := measured(t, conn, sql, args)
		if err != nil {
			t.Errorf("%s: %v", shape, err)
			continue
		}
		plan.walk(func(n *planNode) {
			if n.Type == "Seq Scan" && n.Table != "tasks" {
				t.Errorf("%s: a sequential scan of %s", shape, n.Table)
			}
		})
		most, where := plan.mostRead("")
		if most > readsMax(shape) {
			t.Errorf("%s: %v rows are read by a %s, want %v at most\n%s", shape, most, where, readsMax(shape), text)
		}
		if plan.Rows == 0 {
			t.Errorf("%s: selects nothing", shape)
		}
	}
}

// measured executes a statement and returns its plan, also as the database has written it.
func measured(t *testing.T, conn *pgx.Conn, sql string, args []any) (plan planNode, text string, err error) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, FORMAT JSON) "+sql, args...).Scan(&text); err != nil {
		return plan, "", err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan, text, nil
}

// TestFindStartsNoWorkers: a listing is planned without parallel workers, also where the planner
// takes them to cost nothing.
func TestFindStartsNoWorkers(t *testing.T) {
	t.Parallel()
	conn := plantMonth(t, pgtest.Empty(t), 2_000)
	sql, args, err := postgres.FindStatement(&journal.ListFilter{Where: `total > 10 order by created asc`}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0", "SET min_parallel_index_scan_size = 0"} {
		mustExec(t, conn, sql)
	}
	gathers := func() (n int) {
		plan, _, err := measured(t, conn, sql, args)
		if err != nil {
			t.Fatal(err)
		}
		plan.walk(func(node *planNode) {
			if strings.HasPrefix(node.Type, "Gather") {
				n++
			}
		})
		return n
	}
	if gathers() == 0 {
		t.Fatal("the planner would not take workers for this listing, which tells nothing")
	}
	mustExec(t, conn, "BEGIN")
	mustExec(t, conn, postgres.ListPlan)
	if n := gathers(); n > 0 {
		t.Errorf("%d nodes of the plan gather from workers", n)
	}
	mustExec(t, conn, "ROLLBACK")
}

// TestFailureNamesHaveNoOrder: no listing without the name of a failure finds its runs in the index of
// names, where they have no order: it would read all that have failed and sort them. So the predicate
// of that index must not follow from what such a listing says. Where the planner may take nothing but
// bitmaps, and not that of the index which serves such listings, it would take any other that it may.
func TestFailureNamesHaveNoOrder(t *testing.T) {
	t.Parallel()
	conn := plantMonth(t, pgtest.Empty(t), 2_000)
	for _, sql := range []string{"DROP INDEX reprise.events_failed_idx", "SET enable_indexscan = off", "SET enable_indexonlyscan = off"} {
		mustExec(t, conn, sql)
	}
	for shape, want := range map[string]bool{
		`error.class = "class11"`: true, `status = "failed" and error.class = "class11"`: true,
		`status = "failed"`: false, `status in ("failed", "blocked")`: false, `status = "cancelled" and workflow = "order"`: false,
		`status = "failed" order by closed desc`: false, `status = "failed" and region = "de"`: false,
	} {
		sql, args, err := postgres.FindStatement(&journal.ListFilter{Where: shape, Limit: pageOf}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		plan, text, err := measured(t, conn, sql, args)
		if err != nil {
			t.Fatal(err)
		}
		used := false
		plan.walk(func(n *planNode) { used = used || n.Index == "events_failure_idx" })
		if used != want {
			t.Errorf("%s: the index of names is used: %t, want %t\n%s", shape, used, want, text)
		}
	}
}

// mostRead returns how many rows were read where most were, and where that was. An empty table
// means all.
func (n *planNode) mostRead(table string) (most float64, where string) {
	n.walk(func(n *planNode) {
		if rows := (n.Rows + n.Removed) * n.Loops; n.Table != "" && (table == "" || table == n.Table) && rows > most {
			most, where = rows, fmt.Sprintf("%s of %s by %s", n.Type, n.Table, n.Index)
		}
	})
	return most, where
}

// BenchmarkFind asks for a page of each shape among a million runs, and reports the 95th percentile
// of all pages, in milliseconds, and the slowest shape's median.
func BenchmarkFind(b *testing.B) {
	dsn := pgtest.Empty(b)
	plantMonth(b, dsn, 1_000_000)
	s, err := postgres.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var all []time.Duration
	for b.Loop() {
		for _, shape := range shapes {
			began := time.Now()
			if _, err := s.List(b.Context(), journal.ListFilter{Where: shape, Limit: pageOf}); err != nil {
				b.Fatal(err)
			}
			took := time.Since(began)
			if all = append(all, took); took > 100*time.Millisecond {
				b.Logf("%s: %s", shape, took)
			}
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "max-ms")
}
