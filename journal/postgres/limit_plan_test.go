package postgres_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// limitBacklogSQL makes claims of runs by the thousand: behind a full key, and of runs that start
// tomorrow; lines that are worth a look tomorrow; claims of sets, of which a line lists one; and sets
// of a route that is halted; and claims of runs that nobody goes for.
const limitBacklogSQL = `
WITH claims AS (
    INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, counted)
    SELECT 0, nextval('reprise.limit_runs_seq'), 0, 'l', CASE WHEN k.later THEN 'later' ELSE 'full' END, 1, n,
           now() + CASE WHEN k.later THEN interval '1 day' ELSE n * interval '-1 ms' END, gen_random_uuid(), 0, '', 3, NOT k.later
    FROM generate_series(1, $1::int) AS n CROSS JOIN unnest(ARRAY[false, true]) AS k(later)
), spared AS (
    INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, spared)
    SELECT 0, nextval('reprise.limit_runs_seq'), 0, 'l', 'spared', 1, n, now(), gen_random_uuid(), 0, '', 3, true FROM generate_series(1, $1::int) AS n
), of_sets AS (
    INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, needs, set_id)
    SELECT 0, nextval('reprise.limit_runs_seq'), 0, 'l', 'other', 1, -n, now(), gen_random_uuid(), 0, '', 3, '[]', k.set_id
    FROM generate_series(1, $1::int) AS n CROSS JOIN unnest(ARRAY[1, 2]) AS k(set_id)
), sets AS (
    INSERT INTO reprise.limit_sets (set_id, first, away, halted, name, key, queue, workflow, version)
    SELECT k.set_id, -$1::int, k.set_id = 1, false, 'l', 'other', 'q', 'w', 1 FROM unnest(ARRAY[1, 2]) AS k(set_id)
    UNION ALL
    SELECT 1000 * $1::int + n, n, true, true, 'l', 'other', 'q', 'w', 1 FROM generate_series(1, $1::int) AS n
    ON CONFLICT DO NOTHING
)
INSERT INTO reprise.limit_lines (name, key, held, waiting, ready, served, share, open, look_at)
SELECT 'l', 'key ' || $1::int || ' ' || n, 1, 1, 0, 0, 0, false, (extract(epoch FROM now()) * 1000000)::bigint + 86400000000
FROM generate_series(1, $1::int) AS n`

// limitFewSQL makes what rounds look for: the full line, another one, what a node holds and waits
// for, and a run that has come to wait.
const limitFewSQL = `
INSERT INTO reprise.limits VALUES (now(), 0, 0, 0, 60000000, 1, 0, 1, 'l', '', '', '');
INSERT INTO reprise.limit_lines (name, key, held, waiting, ready, served, share, open) VALUES
    ('l', 'full', 1, 1, 0, 0, 0, false), ('l', 'other', 1, 1, 0, 0, 0, true);
INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, granted_at, run_id, cmd, step, priority, counted)
VALUES (7, 1, 0, 'l', 'other', 1, 1, now(), now(), gen_random_uuid(), 1, 's', 3, true), (7, 2, 0, 'l', 'other', 1, 1, now(), NULL, gen_random_uuid(), 1, 's', 3, true),
       (0, -1, 0, 'l', 'other', 1, 1, now(), NULL, '11111111-1111-1111-1111-111111111111', 0, '', 3, false)`

// limitReads are the statements of rounds, of comparisons and of an operator who releases the claim
// of a run, with arguments.
var limitReads = map[string]string{
	"limitStateSQL": "ARRAY['l', 'l', 'l'], ARRAY['full', 'other', '~total'], 64", "limitOpenSQL": "ARRAY['l'], 64",
	"limitSetsSQL": "ARRAY['l', 'l', 'l'], ARRAY['full', 'other', '~total'], 64", "limitSetsGoneSQL": "ARRAY[1, 3]",
	"limitSetsMoveSQL": "ARRAY[2], ARRAY['l'], ARRAY['other'], ARRAY[0], ARRAY[true], ARRAY[true]",
	"limitSetsLeftSQL": "ARRAY[1, 3]", "limitHaltedSQL": "1000", "limitHaltedSetsSQL": "ARRAY['q', 'r'], ARRAY['w', 'w'], ARRAY[1, 1], 100",
	"limitUnhaltSQL": "ARRAY[2], ARRAY['l'], ARRAY['other']",
	"limitDueSQL":    "500, 100", "limitNextSQL": "4611686018427387904", "limitNewsSQL": "500",
	"limitOldestSQL":  "'l', 'spared', 1, '11111111-1111-1111-1111-111111111111'",
	"limitSpareSQL":   "'11111111-1111-1111-1111-111111111111'",
	"limitRerouteSQL": "'11111111-1111-1111-1111-111111111111'",
	"limitEndSQL":     "ARRAY['11111111-1111-1111-1111-111111111111'::uuid]",
	"limitArriveSQL":  "now(), ARRAY[0], ARRAY[-1], ARRAY[0], ARRAY[1], ARRAY[false], ARRAY[3], ARRAY[0]", "limitAsideSQL": "ARRAY[0], ARRAY[-1]", "limitGrantSQL": "now(), ARRAY[0, 7], ARRAY[-1, 2]",
	"limitRemoveSQL": "0, ARRAY[-1]", "limitKnownSQL": "7, ARRAY[1]", "limitOfNodeSQL": "7, true",
	"limitClaimSQL": "0, -1", "limitNamesSQL": "0, -1", "limitFreeSQL": "0, -1",
}

// TestLimitsAreFlat: however many runs wait for a limit, now or from tomorrow on, a round reads the
// heads of its lines and what is new, whether its statements were planned when the tables were
// empty or when they had grown.
func TestLimitsAreFlat(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	for _, setting := range []string{"enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off", "jit = off", "plan_cache_mode = force_generic_plan"} {
		mustExec(t, conn, "SET "+setting)
	}
	read := func(name string) (rows float64, how string) {
		mustExec(t, conn, "BEGIN")
		defer mustExec(t, conn, "ROLLBACK")
		text := query[string](t, conn, fmt.Sprintf("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE %s(%s)", name, limitReads[name]))
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(text), &plans); err != nil {
			t.Fatal(err)
		}
		plans[0].Plan.walk(func(n *planNode) {
			if n.Index != "" {
				rows += (n.Rows + n.Removed) * n.Loops
				how += fmt.Sprintf("; %s gives %v, %v of them in vain", n.Index, (n.Rows+n.Removed)*n.Loops, n.Removed*n.Loops)
			}
		})
		return rows, how
	}
	for name := range limitReads {
		mustExec(t, conn, "PREPARE "+name+" AS "+sql[name])
		read(name) // plans it
	}
	few := map[string]float64{}
	mustExec(t, conn, limitFewSQL)
	mustExec(t, conn, limitBacklogSQL, 100)
	for name := range limitReads {
		few[name], _ = read(name)
	}
	mustExec(t, conn, limitBacklogSQL, 5_000)
	for _, planned := range []string{"when the tables were empty", "now"} {
		if planned == "now" { // which has plans made again
			mustExec(t, conn, "ANALYZE reprise.limit_claims, reprise.limit_lines, reprise.limit_sets")
		}
		for name := range limitReads {
			// A backlog of fifty times the size would add thousands.
			if rows, how := read(name); rows > 2*few[name]+20 {
				t.Errorf("%s, planned %s, reads %v rows, and %v with a fiftieth of the claims%s", name, planned, rows, few[name], how)
			}
		}
	}
}
