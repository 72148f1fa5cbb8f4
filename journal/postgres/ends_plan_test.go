package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// endedSQL plants closed runs of one event.
const endedSQL = `
WITH ended AS (
    INSERT INTO reprise.runs (id, created_at, version, priority, holds_key, workflow, queue, generation, status, closed_at, closed_seq)
    SELECT gen_random_uuid(), now(), 1, 3, false, 'w', 'q', 1, 1, now(), 1 FROM generate_series(1, $1::int) RETURNING id
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
	before := 0
	for _, events := range []int{10, 20_000} {
		mustExec(t, conn, endedSQL, events)
		ids := query[string](t, conn, `SELECT string_agg(quote_literal(id), ',') FROM (SELECT r.id FROM reprise.runs r LIMIT 4) r`)
		plan := explain(t, conn, sql["endsSQL"], fmt.Sprintf("ARRAY[%s]::uuid[]", ids), "1000000")
		if plan.Rows != 4 || !strings.Contains(ids, ",") {
			t.Fatalf("%v ends of four runs are read", plan.Rows)
		}
		plan.walk(func(n *planNode) {
			if n.Table == "events" && n.Removed > 0 {
				t.Errorf("with %d events %s %s reads %v rows in vain", events, n.Type, n.Index, n.Removed)
			}
		})
		blocks := plan.Hit + plan.Read
		if before > 0 && blocks > 2*before {
			t.Errorf("with %d events four ends touch %d blocks, %d with few", events, blocks, before)
		}
		before = blocks
	}
}
