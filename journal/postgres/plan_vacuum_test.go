package postgres_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// scanNode is what this test reads of EXPLAIN's answer.
type scanNode struct {
	Type  string     `json:"Node Type"`
	Table string     `json:"Relation Name"`
	Index string     `json:"Index Name"`
	Cond  string     `json:"Index Cond"`
	Plans []scanNode `json:"Plans"`
}

// ownTx returns the tables that are read as a whole.
func (n *scanNode) whole() (tables []string) {
	if strings.Contains(n.Type, "Scan") && n.Table != "" && n.Cond == "" && n.Type != "Bitmap Heap Scan" {
		tables = append(tables, n.Type+" of "+n.Table+" by "+n.Index)
	}
	for i := range n.Plans {
		tables = append(tables, n.Plans[i].whole()...)
	}
	return tables
}

// busyStatements are those that run all the time, with the number of their parameters.
var busyStatements = map[string]int{
	"startReuseSQL": 4, "startSQL": 21, "startOneSQL": 21, "startReadSQL": 2, "startMessageDelaySQL": 1, "lockTasksSQL": 1, "sendSQL": 9, "claimSQL": 13,
	"claimUnconfirmedSQL": 3, "claimAttentionSQL": 2, "claimWaitingSQL": 5, "claimNextSQL": 3, "commitSQL": 31, "commitCloseSQL": 21, "commitOneSQL": 49, "commitOneCloseSQL": 44,
	"commitReadSQL": 3, "appendSQL": 19, "appendOneSQL": 17, "ownedSQL": 2, "releaseSQL": 4, "excludeOwnersSQL": 2, "recallSQL": 1, "loadRunsSQL": 1, "loadOwnedSQL": 1, "loadEventsSQL": 6, "loadInboxSQL": 5, "loadAnswersSQL": 2,
	"lockFamilySQL": 2, "orphansSQL": 1, "terminateSQL": 5, "previewSQL": 2, "continueSQL": 7, "replySQL": 5, "lookNextSQL": 5,
}

// TestPlansAfterAutovacuum: a vacuum may come by while a table that was large is nearly empty, and
// the plans that follow from it are cached. None may read a whole table or index: it would do so
// for each member of every batch, once there are rows again.
func TestPlansAfterAutovacuum(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	for _, setting := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		mustExec(t, conn, "SET "+setting+" = off")
	}
	mustExec(t, conn, "SET plan_cache_mode = force_generic_plan")
	for _, fill := range []string{
		`INSERT INTO reprise.tasks (run_id, visible_at, owner, version, priority, queue, workflow)
		 SELECT gen_random_uuid(), 'infinity', 1, 1, 3, 'q', 'w' FROM generate_series(1, 1000)`,
		`INSERT INTO reprise.runs (id, created_at, version, priority, holds_key, workflow, queue, key)
		 SELECT gen_random_uuid(), now(), 1, 3, true, 'w', 'q', n::text FROM generate_series(1, 1000) n`,
		`INSERT INTO reprise.events (run_id, at, link, generation, seq, kind) SELECT gen_random_uuid(), now(), 1, 1, 1, 1 FROM generate_series(1, 1000)`,
		`INSERT INTO reprise.inbox (run_id, number, digest, kind, at, key) SELECT gen_random_uuid(), 1, 1, 1, now(), n::text FROM generate_series(1, 1000) n`,
	} {
		mustExec(t, conn, fill)
	}
	mustExec(t, conn, "VACUUM ANALYZE")
	for _, left := range []int{3, 1, 0} {
		for _, table := range []string{"tasks", "runs", "events", "inbox"} {
			mustExec(t, conn, fmt.Sprintf("DELETE FROM reprise.%[1]s WHERE ctid NOT IN (SELECT ctid FROM reprise.%[1]s LIMIT %[2]d)", table, left))
			mustExec(t, conn, "VACUUM ANALYZE reprise."+table)
		}
		for name, params := range busyStatements {
			for _, table := range planOf(t, conn, sql[name], params).whole() {
				if !strings.HasSuffix(table, "of nodes by ") { // it has no more rows than there are processes
					t.Errorf("with %d rows left, %s makes a %s", left, name, table)
				}
			}
		}
	}
}

func planOf(t *testing.T, conn *pgx.Conn, sql string, params int) *scanNode {
	t.Helper()
	mustExec(t, conn, "PREPARE planned AS "+sql)
	defer mustExec(t, conn, "DEALLOCATE planned")
	text := query[string](t, conn, fmt.Sprintf("EXPLAIN (FORMAT JSON) EXECUTE planned(%s)", strings.Join(nulls(params), ", ")))
	var plans []struct{ Plan scanNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return &plans[0].Plan
}
