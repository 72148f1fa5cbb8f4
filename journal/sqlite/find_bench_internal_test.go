package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// plantMonthSQL makes runs as a program of a month leaves them; see the statement of the same name
// in package postgres. Times are microseconds.
var plantMonthSQL = []string{`
WITH RECURSIVE planted(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM planted WHERE n < ?1)
INSERT INTO reprise_runs (id, created_at, closed_at, closed_seq, version, priority, status, holds_key, workflow, queue, key, labels, parent_run)
SELECT unhex(printf('%012x70008000%012x', n, n)), ?2 - (?1 - n) * (2592000000000 / ?1),
       CASE WHEN n % 1000 >= 10 THEN ?2 - (?1 - n) * (2592000000000 / ?1) + (n * 7919 % 997) * 1000000 END, CASE WHEN n % 1000 >= 10 THEN 2 END,
       1 + n % 1000 % 3, 3, CASE WHEN n % 1000 < 10 THEN 0 WHEN n % 1000 < 40 THEN 2 WHEN n % 1000 < 42 THEN 3 ELSE 1 END, n % 1000 <> 500,
       CASE WHEN n % 1000 = 77 THEN 'rare' WHEN n % 1000 % 3 = 0 THEN 'refund' ELSE 'order' END, 'default', CASE WHEN n % 1000 <> 501 THEN 'key-' || n END,
       CASE WHEN n % 1000 = 503 THEN json_object('paid', 'true', 'app.kubernetes.io/name', 'shop-web')
       ELSE json_object('region', CASE n % 3 WHEN 0 THEN 'de' WHEN 1 THEN 'fr' ELSE 'it' END, 'total', CAST(n % 5000 AS TEXT)) END,
       CASE WHEN n % 1000 = 600 THEN unhex('00000000000000000000000000000001') END
FROM planted`, `
WITH RECURSIVE planted(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM planted WHERE n < ?1)
INSERT INTO reprise_tasks (run_id, owner, version, priority, queue, workflow, state, waiting)
SELECT unhex(printf('%012x70008000%012x', n, n)), CASE WHEN n % 1000 = 5 THEN 7 ELSE 0 END, 1, 3, 'default', 'order', n % 1000 = 0, 'signal paid'
FROM planted WHERE n % 1000 < 10 AND ?2 > 0`, `
WITH RECURSIVE planted(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM planted WHERE n < ?1)
INSERT INTO reprise_events (run_id, at, link, generation, seq, kind, encoding, payload)
SELECT unhex(printf('%012x70008000%012x', n, n)), ?2, 1, 1, 2, CASE WHEN n % 1000 < 40 THEN 21 WHEN n % 1000 < 42 THEN 22 ELSE 20 END,
       CASE WHEN n % 1000 < 42 THEN 'failure' END,
       CASE WHEN n % 1000 < 42 THEN CAST('{"type":"class' || (n % 1000) || '","message":"m"}' AS BLOB) END
FROM planted WHERE n % 1000 >= 10`}

// shapes are what docs/finding-runs.md says an index finds.
var shapes = []string{
	`id = "00000000-0064-7000-8000-000000000064"`, `key = "key-4711"`, `key starts with "key-471"`,
	`parent = "00000000-0000-0000-0000-000000000001"`, `status = open`, `status = "failed"`, `status = "blocked"`,
	`status in ("failed", "blocked")`, `workflow = "order" and version >= 2`, `closed between -2h and -1h`,
	`closed between -2h and -1h and total > 100 order by closed asc`, `closed > -20d order by closed desc`, `closed < -20d order by closed desc`,
	`workflow = "order" and status in ("failed", "blocked") and total > 100 and error.class = "class11" and closed between -2d and now order by duration desc`,
	`order by duration desc`, `duration > 16m order by duration asc`, `created between -2h and -1h`, `order by created asc`, `node = 7 and status = open`,
	`key is not set`, `key is not set order by created asc`, `paid = true`, `paid = true and workflow = "order"`, `label."app.kubernetes.io/name" starts with "shop"`,
	`label."app.kubernetes.io/name" is set and paid = true order by duration desc`, `error.class in ("class11", "class12")`, `node = 7 and waiting starts with "signal"`,
	`parent is set`, `parent is set and status = completed`,
}

// plantMonth returns a store of that many runs.
func plantMonth(t testing.TB, runs int) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	err = s.write(t.Context(), 0, func(batch *batch) error {
		for _, sql := range plantMonthSQL {
			if _, err := batch.exec(sql, int64(runs), now().UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkFind asks for a page of each shape among a million runs, and reports the 95th percentile
// of all pages and the slowest, in milliseconds.
func BenchmarkFind(b *testing.B) {
	s := plantMonth(b, 1_000_000)
	var all []time.Duration
	for b.Loop() {
		for _, shape := range shapes {
			began := time.Now()
			page, err := s.List(b.Context(), journal.ListFilter{Where: shape, Limit: 50})
			if err != nil || len(page.Runs) == 0 {
				b.Fatalf("%s: %d runs, %v", shape, len(page.Runs), err)
			}
			took := time.Since(began)
			if all = append(all, took); took > 150*time.Millisecond {
				b.Logf("%s: %s", shape, took)
			}
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "max-ms")
}
