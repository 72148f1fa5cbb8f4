package postgres_test

import (
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// endedSQL plants closed runs of one event, four of each parent.
const endedSQL = `
WITH ended AS (
    INSERT INTO reprise.runs (id, created_at, version, priority, holds_key, workflow, queue, generation, status, closed_at, closed_seq,
        parent_run, parent_generation, parent_cmd)
    SELECT gen_random_uuid(), now(), 1, 3, false, 'w', 'q', 1, 1, now(), 1, p.id, 1, 1
    FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $1::int / 4 + 1) n OFFSET 0) p CROSS JOIN generate_series(1, 4) RETURNING id
)
INSERT INTO reprise.events (run_id, at, link, generation, seq, kind)
SELECT e.id, now(), 1, 1, 1, 6 FROM ended e`

// TestEndsAreFlat: to read the ends of a few runs costs the same when the server believes that
// there are hardly any events, as it does for a minute behind a burst of first runs.
func TestEndsAreFlat(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	mustExec(t, conn, endedSQL, 1)
	mustExec(t, conn, "VACUUM ANALYZE reprise.runs, reprise.events")
	before := map[string]int{}
	for _, events := range []int{10, 20_000} {
		mustExec(t, conn, endedSQL, events)
		four := query[string](t, conn, `SELECT string_agg(quote_literal(id), ',') FROM (SELECT r.id FROM reprise.runs r LIMIT 4) r`)
		ids := fmt.Sprintf("ARRAY[%s]::uuid[]", four)
		parent := query[string](t, conn, `SELECT quote_literal(r.parent_run) FROM reprise.runs r LIMIT 1`)
		for statement, args := range map[string][]string{
			"endsSQL":           {ids, "1000000"},
			"loadAnswersSQL":    {ids, "ARRAY[1, 1, 1, 1]"},
			"listSQL":           append(nulls(12), "4"),
			"rewindChildrenSQL": {parent, "true"},
		} {
			plan := explain(t, conn, sql[statement], args...)
			if plan.Rows != 4 {
				t.Fatalf("%s reads %v ends of four runs", statement, plan.Rows)
			}
			plan.walk(func(n *planNode) {
				if n.Table == "events" && n.Removed > 0 {
					t.Errorf("with %d events %s has %s %s read %v rows in vain", events, statement, n.Type, n.Index, n.Removed)
				}
			})
			blocks := plan.Hit + plan.Read
			if had := before[statement]; had > 0 && blocks > 2*had {
				t.Errorf("with %d events %s touches %d blocks, %d with few", events, statement, blocks, had)
			}
			before[statement] = blocks
		}
	}
}
