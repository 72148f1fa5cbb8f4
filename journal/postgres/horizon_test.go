package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestClaimIsFlatUnderAHeldHorizon: a transaction elsewhere keeps the server from removing the
// entries of tasks that were taken. A search that begins at its mark does not read them.
func TestClaimIsFlatUnderAHeldHorizon(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	dsn := pgtest.Empty(t)
	conn := connect(t, dsn)
	migrateSchema(t, conn, pgtest.Schema)
	// Whether the server has looked at the table decides how the whole queue is read.
	mustExec(t, conn, `ALTER TABLE reprise.tasks SET (autovacuum_enabled = false)`)
	mustExec(t, conn, `INSERT INTO reprise.members (node, incarnation) VALUES (1, '11111111-1111-1111-1111-111111111111')`)
	holder, err := connect(t, dsn).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), "SELECT FROM reprise.tasks"); err != nil {
		t.Fatal(err)
	}
	pages := func(from string) int {
		routes := []string{"ARRAY['q']", "ARRAY['w']", "ARRAY[1]"}
		blocks := 0
		for name, args := range map[string][]string{
			"claimSQL":    append(append([]string{"1"}, routes...), "10", "'11111111-1111-1111-1111-111111111111'", "5", from, "0", "3", "3", "1", "524288"),
			"lookNextSQL": append(append([]string{"2"}, routes...), from), // of a node that owns nothing
		} {
			plan := explain(t, conn, sql[name], args...)
			blocks += plan.Hit + plan.Read
		}
		return blocks
	}
	fill := func(n int, age string) {
		mustExec(t, conn, `INSERT INTO reprise.tasks (run_id, visible_at, owner, version, priority, queue, workflow)
			SELECT gen_random_uuid(), now() - $2::text::interval - n * interval '1 ms', 0, 1, 3, 'q', 'w' FROM generate_series(1, $1::int) n`, n, age)
	}
	mark := "now() - interval '1 second'"
	fill(20, "0")
	before := pages(mark)
	for range 3 {
		fill(5000, "1 minute")
		mustExec(t, conn, `UPDATE reprise.tasks SET visible_at = now() - interval '1 minute', owner = 1 WHERE visible_at < now() - interval '1 minute'`)
		mustExec(t, conn, `DELETE FROM reprise.tasks WHERE owner = 1`)
		mustExec(t, conn, `VACUUM reprise.tasks`) // in vain
	}
	mustExec(t, conn, `UPDATE reprise.tasks SET visible_at = now()`)
	if whole := pages("'-infinity'"); whole < 20*before {
		t.Fatalf("the whole queue has %d pages, its end %d: nothing is held back", whole, before)
	}
	if after := pages(mark); after > 2*before {
		t.Errorf("a search from its mark touches %d pages, %d before", after, before)
	}
}
