package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestQuestionsFindAnyDeadNode, wherever its number stands among the others.
func TestQuestionsFindAnyDeadNode(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	first, _ := memberOf(t, dsn, nil, time.Hour)
	renew(t, first)
	m, _ := memberOf(t, dsn, nil, time.Hour)
	query[int](t, conn, `WITH n AS (
		INSERT INTO reprise.nodes (id, name, routes, lease, started_at, expires_at, server, grace, process) OVERRIDING SYSTEM VALUE
		SELECT 1000 * i + id, 'n', routes, lease, now(), now() + interval '1 hour', server, grace, i FROM reprise.nodes, generate_series(-1, 2) AS i
		WHERE id = $1 AND i <> 0 RETURNING process)
		SELECT count(*)::int FROM n`, int32(m.ID()))
	const class = `(SELECT DISTINCT l.classid::bigint::bit(32)::int FROM pg_locks l JOIN reprise.nodes n ON l.objid::bigint = n.process::oid::bigint AND l.objsubid = 2)`
	lock := func(process int) {
		query[int](t, conn, `SELECT count(pg_advisory_lock_shared(`+class+`, $1::int))::int`, process)
	}
	for _, process := range []int{-1, 1, 2} {
		lock(process)
	}
	// Which of several nodes looks is drawn by lot, and a new lifeline renews the lease first.
	asked := func(what string) bool {
		look, err := m.Ask(t.Context(), false)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return look
	}
	ask := func(what string, want bool) {
		t.Helper()
		if want {
			eventually(t, what, func() bool { return asked(what) })
			return
		}
		for range 50 {
			if asked(what) {
				t.Errorf("%s, and somebody is to look", what)
			}
		}
	}
	ask("all live", false)
	for _, process := range []int{-1, 1, 2} {
		query[int](t, conn, `SELECT pg_advisory_unlock_shared(`+class+`, $1::int)::int`, process)
		ask(fmt.Sprint(process, " has died"), true)
		if l, err := m.Look(t.Context()); err != nil || len(l.Suspects) != 1 {
			t.Errorf("%d has died: %+v, %v", process, l, err)
		}
		lock(process)
	}
	ask("all live again", false)
	query[int](t, conn, `SELECT pg_advisory_unlock_shared(`+class+`, 1)::int`)
	for what, change := range map[string]string{
		"it has taken its offer back": "process = NULL", "its server has restarted": "server = server - interval '1 s'",
		"its lease has run out, which looks find": "expires_at = now()",
	} {
		query[int](t, conn, `WITH n AS (UPDATE reprise.nodes SET `+change+` WHERE process = 1 RETURNING id) SELECT count(*)::int FROM n`)
		ask(what, false)
		query[int](t, conn, `WITH n AS (UPDATE reprise.nodes SET process = 1, expires_at = now() + interval '1 hour', server = pg_postmaster_start_time()
			WHERE id = 1000 + $1 RETURNING id) SELECT count(*)::int FROM n`, int32(m.ID()))
		ask("it counts again", true)
	}
}
