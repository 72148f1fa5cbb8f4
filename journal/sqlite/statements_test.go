package sqlite_test

import (
	"database/sql"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// once are statements that are executed when a store opens, or about a schema, or by hand.
var once = regexp.MustCompile(`^(migrate|identify|databaseForget|reapNodes|reapForgive|reapHold|reapMembers|nodesHere)`)

// sortedByNature are statements that sort what a range of another index has found.
// The pauses of scopes, and the views, are few, and read as a whole; open runs are counted up to a limit; and what
// is asked of several runs begins with the list of their ids. Limits, their keys and their claims
// are listed by people, as a whole or of one name, and the keys are forgotten once, by a new process.
// A listing that has met damage names all runs by whatever names them.
var sortedByNature = []string{"listKeysSQL", "listPastSQL", "pausesSQL", "viewsSQL", "viewReadSQL", "countOpenSQL", "askSQL", "tellSQL",
	"limitsSQL", "limitUsesSQL", "limitHeldSQL", "limitWaitingSQL", "limitLinesForgetSQL", "limitsForgetSQL",
	"limitLinesRunsSQL", "limitTotalsRunsSQL", "limitSetsForgetSQL", "limitSetsListSQL"}

// TestPlans prepares every statement, and looks for those that read more than they need. SQLite
// plans without looking at the size of tables, unless somebody has analysed them, so the plans of
// empty ones are those of large ones.
func TestPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := sqlite.OpenDatabase(t.Context(), w.db); err != nil {
		t.Fatal(err)
	}
	found := sqltest.Statements(t, ".")
	if len(found) < 40 {
		t.Fatalf("found only %d statements", len(found))
	}
	for name, text := range found {
		rows, err := w.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, nulls(text)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, step := range plan(t, rows) {
			switch {
			case once.MatchString(name):
			case strings.HasPrefix(step, "SCAN reprise_") || regexp.MustCompile(`^SCAN [a-z]\b`).MatchString(step):
				if !slices.Contains(sortedByNature, name) {
					t.Errorf("%s: %s", name, step)
				}
			case strings.Contains(step, "TEMP B-TREE") && !slices.Contains(sortedByNature, name):
				t.Errorf("%s: %s", name, step)
			case strings.Contains(step, "AUTOMATIC"):
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// TestHotPlans names the index of every statement that is executed all the time.
func TestHotPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	found := sqltest.Statements(t, ".")
	for name, want := range map[string]string{
		"claimHeadSQL":        "reprise_tasks_claim_idx (queue=? AND workflow=? AND version=? AND priority=? AND visible_at>? AND visible_at<?)",
		"backlogSQL":          "reprise_tasks_claim_idx (queue=? AND workflow=? AND version=? AND priority=? AND visible_at>? AND visible_at<?)",
		"backlogRouteSQL":     "reprise_tasks_claim_idx ((queue,workflow,version)>(?,?,?))",
		"claimNextSQL":        "reprise_tasks_claim_idx (queue=? AND workflow=? AND version=? AND priority=? AND visible_at>?)",
		"claimAttentionSQL":   "reprise_tasks_owner_idx (owner=? AND visible_at<?)",
		"claimUnconfirmedSQL": "reprise_tasks_owner_idx (owner=?)",
		"claimReadSQL":        "PRIMARY KEY (run_id=?)",
		"claimLeaseSQL":       "PRIMARY KEY (run_id=?)",
		"commitKeepSQL":       "PRIMARY KEY (run_id=?)",
		"commitFreeSQL":       "PRIMARY KEY (run_id=?)",
		"commitRemoveSQL":     "PRIMARY KEY (run_id=?)",
		"commitOwnSQL":        "PRIMARY KEY (run_id=? AND generation=?)",
		"commitInboxSQL":      "PRIMARY KEY (run_id=? AND number>? AND number<?)",
		"ownedSQL":            "reprise_tasks_owner_idx (owner=?)",
		"releaseSQL":          "PRIMARY KEY (run_id=?)",
		"commitCloseSQL":      "PRIMARY KEY (id=?)",
		"startHolderSQL":      "reprise_runs_key_idx (key=?)",
		"sendKnownSQL":        "reprise_inbox_key_idx (run_id=? AND key=?)",
		"loadEventsSQL":       "PRIMARY KEY (run_id=? AND generation=? AND seq>?)",
		"loadNamedSQL":        "reprise_events_inbox_idx (run_id=? AND generation=?",
		"loadCarriedSQL":      "PRIMARY KEY (run_id=? AND number=?)",
		"loadAnswerSQL":       "PRIMARY KEY (run_id=? AND number=?)",
		"replySQL":            "PRIMARY KEY (run_id=? AND number=?)",
		"replyRejectSQL":      "PRIMARY KEY (run_id=? AND number=?)",
		"childrenSQL":         "reprise_runs_open_children_idx (parent_run=?)",
		"continueSQL":         "PRIMARY KEY (id=?)",
		"continueTaskSQL":     "PRIMARY KEY (run_id=?)",
		"listParentSQL":       "reprise_runs_parent_idx (parent_run=? AND id<?)",
		"listChangedSQL":      "PRIMARY KEY (run_id=? AND generation=?)",
		"loadInboxSQL":        "PRIMARY KEY (run_id=? AND number>?)",
		"reapOwnerSQL":        "reprise_tasks_owner_idx (owner>?)",
		"listWorkflowSQL":     "reprise_runs_workflow_idx (workflow=? AND id<?)",
		"listStuckSQL":        "reprise_tasks_stuck_idx (state=? AND run_id<?)",
		"listFailedSQL":       "reprise_events_failed_idx (kind=? AND run_id<?)",
		"listFailedAsSQL":     "reprise_events_failed_idx (kind=? AND run_id<?)",
		"listNoKeySQL":        "reprise_runs_no_key_idx (key=? AND id<?)",
		"listLabelSQL":        "PRIMARY KEY (name=? AND value=? AND run_id<?)",
		"gatherLabelsSQL":     "PRIMARY KEY (name=? AND value>? AND value<?)",
		"gatherParentsSQL":    "reprise_runs_parent_idx (parent_run>?)",
		"gatherOwnedSQL":      "reprise_tasks_owner_idx (owner=?)",
		"countNoKeySQL":       "COVERING INDEX reprise_runs_no_key_idx (key=?)",
		"countLabelSQL":       "PRIMARY KEY (name=? AND value=?)",
		"countLabelsSQL":      "PRIMARY KEY (name=? AND value>? AND value<?)",
		"walkOldestSQL":       "PRIMARY KEY (id>?)",
		"walkClosedSQL":       "reprise_runs_closed_idx (closed_at>? AND (closed_at,id)<(?,?))",
		"walkClosedOldestSQL": "reprise_runs_closed_idx ((closed_at,id)>(?,?) AND closed_at<?)",
		"walkLongestSQL":      "reprise_runs_duration_idx (<expr>>? AND <expr><?)",
		"walkShortestSQL":     "reprise_runs_duration_idx (<expr>>? AND <expr><?)",
		"gatherCreatedSQL":    "reprise_runs_created_idx (created_at>? AND created_at<?)",
		"gatherClosedSQL":     "reprise_runs_closed_idx (closed_at>? AND closed_at<?)",
		"gatherDurationSQL":   "reprise_runs_duration_idx (<expr>>? AND <expr><?)",
		"countCreatedSQL":     "COVERING INDEX reprise_runs_created_idx (created_at>? AND created_at<?)",
		"countClosedSQL":      "COVERING INDEX reprise_runs_closed_idx (closed_at>? AND closed_at<?)",
		"countDurationSQL":    "INDEX reprise_runs_duration_idx (<expr>>? AND <expr><?)",
		"countFailedSQL":      "COVERING INDEX reprise_events_failed_idx (kind=?)",
		"listLimitedSQL":      "reprise_tasks_limited_idx (state=? AND run_id<?)",
		"countLimitedSQL":     "COVERING INDEX reprise_tasks_limited_idx (state=?)",
		"countStuckSQL":       "COVERING INDEX reprise_tasks_stuck_idx (state=?)",
		"countWorkflowSQL":    "COVERING INDEX reprise_runs_workflow_idx (workflow=?)",
		"countParentSQL":      "COVERING INDEX reprise_runs_parent_idx (parent_run=?)",
		"countKeysSQL":        "COVERING INDEX reprise_runs_key_idx (key>? AND key<?)",
		"askSQL":              "PRIMARY KEY (id=?)",
		"tellSQL":             "PRIMARY KEY (run_id=? AND generation=?)",
	} {
		rows, err := w.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+found[name], nulls(found[name])...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if steps := strings.Join(plan(t, rows), "; "); !strings.Contains(steps, want) {
			t.Errorf("%s: %s, want %s", name, steps, want)
		}
	}
}

func plan(t *testing.T, rows *sql.Rows) (steps []string) {
	t.Helper()
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// nulls returns an argument for every parameter of a statement.
func nulls(text string) []any {
	n := strings.Count(text, "?")
	for k := 20; k > 0; k-- {
		if strings.Contains(text, "?"+strconv.Itoa(k)) {
			n = k
			break
		}
	}
	return make([]any, n)
}
