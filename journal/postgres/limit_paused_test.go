package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestAPauseBesideARound: a run is paused while a round that has read its claim goes on. If it
// grants the claim, the run holds its limits, and the claim is no news to any round. If the round
// only lets the claim come into its lines, the next round takes it out.
func TestAPauseBesideARound(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	mustExec(t, conn, `
INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, counted, paused)
SELECT 0, n, 0, 'l', '', 1, 1, now(), gen_random_uuid(), 0, '', 3, n = 1, true FROM generate_series(1, 3) AS n`)
	mustExec(t, conn, "PREPARE granting AS "+sql["limitGrantSQL"])
	mustExec(t, conn, "PREPARE arriving AS "+sql["limitArriveSQL"])
	mustExec(t, conn, "EXECUTE granting(now(), ARRAY[0], ARRAY[1])")
	mustExec(t, conn, "EXECUTE arriving(now(), ARRAY[0, 0], ARRAY[2, 3], ARRAY[0, 0], ARRAY[1, 1], ARRAY[true, false], ARRAY[3, 3], ARRAY[0, 0])")
	const news = "SELECT coalesce(string_agg(c.id::text, ' ' ORDER BY c.id), '') FROM reprise.limit_claims c WHERE c.ended OR c.counted = c.paused"
	if got := query[string](t, conn, news); got != "3" {
		t.Errorf("claims %q are news, want the one that waits", got)
	}
}
