package postgres_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// backlogSQL makes runs by the thousand: due, parked for ever, parked until tomorrow, and owned
// ones.
const backlogSQL = `
INSERT INTO reprise.tasks (run_id, visible_at, owner, version, priority, queue, workflow)
SELECT gen_random_uuid(),
       CASE WHEN k.what = 'due' THEN now() - n * interval '1 millisecond' WHEN k.what = 'tomorrow' THEN now() + interval '1 day' ELSE 'infinity' END,
       CASE WHEN k.what = 'owned' THEN 7 ELSE 0 END, 1, 3, 'q', 'w'
FROM generate_series(1, $1::int) AS n CROSS JOIN unnest(ARRAY['due', 'tomorrow', 'parked', 'owned']) AS k(what)`

// planNode is what these tests read of EXPLAIN's answer.
type planNode struct {
	Type    string     `json:"Node Type"`
	Index   string     `json:"Index Name"`
	Table   string     `json:"Relation Name"`
	Rows    float64    `json:"Actual Rows"`
	Removed float64    `json:"Rows Removed by Filter"`
	Loops   float64    `json:"Actual Loops"`
	Hit     int        `json:"Shared Hit Blocks"`
	Read    int        `json:"Shared Read Blocks"`
	Plans   []planNode `json:"Plans"`
}

func (n *planNode) walk(visit func(n *planNode)) {
	visit(n)
	for i := range n.Plans {
		n.Plans[i].walk(visit)
	}
}

// explain executes a statement and returns its plan, on a connection whose plans are limited like
// the store's.
func explain(t *testing.T, conn *pgx.Conn, sql string, args ...string) planNode {
	t.Helper()
	for _, setting := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		mustExec(t, conn, "SET "+setting+" = off")
	}
	mustExec(t, conn, "SET plan_cache_mode = force_generic_plan")
	mustExec(t, conn, "BEGIN")
	defer mustExec(t, conn, "ROLLBACK")
	mustExec(t, conn, "PREPARE explained AS "+sql)
	defer mustExec(t, conn, "DEALLOCATE explained")
	list := ""
	if len(args) > 0 {
		list = "(" + strings.Join(args, ", ") + ")"
	}
	text := query[string](t, conn, fmt.Sprintf("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained%s", list))
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

// TestClaimIsFlat: whatever waits, a claim reads the head of its index and the rows that it takes.
func TestClaimIsFlat(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	mustExec(t, conn, `INSERT INTO reprise.members (node, incarnation) VALUES (1, '11111111-1111-1111-1111-111111111111')`)
	me := `'11111111-1111-1111-1111-111111111111'`
	var before int
	for _, backlog := range []int{200, 20_000} {
		mustExec(t, conn, backlogSQL, backlog)
		mustExec(t, conn, "VACUUM ANALYZE reprise.tasks")
		claim := explain(t, conn, sql["claimSQL"], "1", "ARRAY['q']", "ARRAY['w']", "ARRAY[1]", "10", me, "5", "'-infinity'", "0", "3", "3", "1", "524288")
		waiting := explain(t, conn, sql["claimWaitingSQL"], "ARRAY['q']", "ARRAY['w']", "ARRAY[1]", "100", "'-infinity'")
		next := explain(t, conn, sql["claimNextSQL"], "ARRAY['q']", "ARRAY['w']", "ARRAY[1]")
		attention := explain(t, conn, sql["claimAttentionSQL"], "7", "10")
		look := explain(t, conn, sql["lookNextSQL"], "7", "ARRAY['q']", "ARRAY['w']", "ARRAY[1]", "'-infinity'")
		taken := 0.0
		claim.walk(func(n *planNode) {
			if n.Index == "tasks_pkey" {
				taken += n.Rows * n.Loops
			}
		})
		if taken != 10 {
			t.Errorf("with %d tasks %v were claimed", 4*backlog, taken)
		}
		used := map[string]bool{}
		for _, plan := range []planNode{claim, waiting, next, attention, look} {
			plan.walk(func(n *planNode) {
				used[n.Index] = true
				if n.Table == "tasks" && n.Type == "Seq Scan" {
					t.Errorf("with %d tasks the table is scanned", 4*backlog)
				}
				if n.Removed > 0 {
					t.Errorf("with %d tasks %s %s reads %v rows in vain", 4*backlog, n.Type, n.Index, n.Removed)
				}
			})
		}
		if !used["tasks_claim_idx"] || !used["tasks_owner_idx"] {
			t.Errorf("with %d tasks the indexes used are %v", 4*backlog, used)
		}
		blocks := claim.Hit + claim.Read + waiting.Hit + waiting.Read + next.Hit + next.Read + attention.Hit + attention.Read + look.Hit + look.Read
		if before > 0 && blocks > 2*before {
			t.Errorf("claiming touches %d blocks, %d with a hundredth of the tasks", blocks, before)
		}
		before = blocks
	}
}

// TestPlansOfATinyTable: plans are cached when the tables are still empty, and must not read what
// they do not need when the tables have grown.
func TestPlansOfATinyTable(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	mustExec(t, conn, "VACUUM ANALYZE reprise.tasks") // an empty queue is often known to be empty
	appended := append([]string{"1", "gen_random_uuid()", "0"}, nulls(16)...)
	routes := []string{"ARRAY['q']", "ARRAY['w']", "ARRAY[1]"}
	for _, c := range []struct {
		statement string
		args      []string
		want      string // the indexes that are used, sorted
	}{
		{"startReuseSQL", nulls(4), "runs_key_idx runs_pkey"},
		{"startSQL", nulls(21), "members_pkey"},
		{"startOneSQL", append([]string{"1", "NULL", "gen_random_uuid()", "'k'", "'w'", "1", "'q'", "3"}, nulls(13)...), "members_pkey"},
		{"startReadSQL", nulls(2), "runs_key_idx runs_pkey tasks_pkey"},
		{"lockTasksSQL", nulls(1), "tasks_pkey"},
		{"freeTasksSQL", nulls(1), "tasks_pkey"},
		{"existingTasksSQL", nulls(1), "tasks_pkey"},
		{"sendSQL", nulls(9), "inbox_key_idx runs_pkey tasks_pkey"},
		{"claimSQL", append(append([]string{"1"}, routes...), "10", "gen_random_uuid()", "1", "NULL", "0", "3", "3", "1", "524288"), "members_pkey runs_pkey tasks_claim_idx tasks_pkey"},
		{"claimUnconfirmedSQL", nulls(3), "members_pkey runs_pkey tasks_owner_idx"},
		{"claimAttentionSQL", nulls(2), "tasks_owner_idx"},
		{"claimWaitingSQL", append(slices.Clone(routes), "100", "NULL"), "tasks_claim_idx"},
		{"claimNextSQL", routes, "tasks_claim_idx"},
		{"commitSQL", nulls(31), "events_pkey inbox_pkey runs_pkey tasks_pkey"},
		{"commitCloseSQL", nulls(21), "events_pkey runs_pkey tasks_pkey"},
		{"commitOneSQL", nulls(49), "events_pkey inbox_pkey tasks_pkey"},
		{"commitOneCloseSQL", nulls(44), "events_pkey inbox_pkey runs_pkey tasks_pkey"},
		{"commitReadSQL", nulls(3), "events_pkey tasks_pkey"},
		{"appendSQL", appended, "events_pkey members_pkey"},
		{"appendOneSQL", append([]string{"1", "gen_random_uuid()", "0", "gen_random_uuid()"}, nulls(13)...), "events_pkey members_pkey"},
		{"ownedSQL", nulls(2), "events_pkey members_pkey tasks_owner_idx"},
		{"releaseSQL", nulls(4), "members_pkey tasks_pkey"},
		{"excludeOwnersSQL", nulls(2), "tasks_pkey"},
		{"recallSQL", nulls(1), "members_pkey tasks_pkey"},
		{"loadRunsSQL", nulls(1), "runs_pkey tasks_pkey"},
		{"loadOwnedSQL", nulls(1), "runs_pkey tasks_pkey"},
		{"loadEventsSQL", nulls(6), "events_pkey inbox_pkey runs_pkey"},
		{"loadInboxSQL", nulls(5), "events_inbox_idx inbox_pkey runs_pkey"},
		{"loadAnswersSQL", nulls(2), "events_pkey inbox_pkey runs_pkey tasks_pkey"},
		{"endsSQL", []string{"ARRAY[gen_random_uuid()]", "1"}, "events_pkey runs_pkey"},
		{"startMessageDelaySQL", nulls(1), "runs_pkey tasks_pkey"},
		{"lockFamilySQL", nulls(2), "runs_parent_idx tasks_pkey"},
		{"orphansSQL", nulls(1), "runs_parent_idx"},
		{"rewindFamilySQL", nulls(1), "runs_parent_idx tasks_pkey"},
		{"rewindUnreadSQL", []string{"gen_random_uuid()", "1", "NULL"}, "events_pkey inbox_key_idx runs_pkey"}, // a run's messages, by either index
		{"previewSQL", nulls(2), "inbox_key_idx runs_pkey tasks_pkey"},
		{"continueSQL", nulls(7), "runs_pkey tasks_pkey"},
		{"limitMoreSQL", nulls(2), "runs_pkey tasks_pkey"},
		{"replySQL", nulls(5), "inbox_pkey"},
		{"terminateSQL", nulls(5), "events_pkey runs_pkey tasks_pkey"},
		{"renewSQL", []string{"1", "gen_random_uuid()", "1"}, "members_pkey nodes_pkey pg_database_datname_index"}, // and pauses, of which there are a few
		{"lookNextSQL", append(append([]string{"1"}, routes...), "'-infinity'"), "tasks_claim_idx tasks_owner_idx"},
		{"lookNodesSQL", nil, "members_pkey"},
		{"watchSQL", []string{"1", "1", "1"}, "nodes_pkey"},
		{"leaveFreeSQL", nulls(3), "members_pkey tasks_owner_idx tasks_pkey"},
		{"reapOwnersSQL", nil, "members_pkey tasks_owner_idx"},
		{"reapFreeSQL", nulls(7), "tasks_owner_idx tasks_pkey"},
		{"auditActedSQL", nulls(4), "audit_run_idx"},
		{"limitBoundedSQL", nulls(1), "limits_pkey"},
		{"limitGateSQL", nulls(3), "limits_pkey"},
		{"limitRoomSQL", nulls(2), "limit_claims_backlog_idx limit_claims_ended_idx limit_lines_pkey limits_pkey"},
		{"limitOldestSQL", nulls(4), "limit_claims_backlog_idx runs_pkey"},
		{"limitFamilySQL", nulls(1), "limit_claims_of_run_idx runs_pkey"},
	} {
		plan := explain(t, conn, sql[c.statement], c.args...)
		used := map[string]bool{}
		plan.walk(func(n *planNode) {
			if n.Index != "" {
				used[n.Index] = true
			}
			if n.Type == "Seq Scan" && n.Table != "nodes" && n.Table != "members" && n.Table != "pauses" { // which has no more rows than there are processes
				t.Errorf("%s scans %s", c.statement, n.Table)
			}
		})
		if got := strings.Join(slices.Sorted(maps.Keys(used)), " "); got != c.want {
			t.Errorf("%s uses %s, want %s", c.statement, got, c.want)
		}
	}
}

func nulls(n int) []string { return slices.Repeat([]string{"NULL"}, n) }
