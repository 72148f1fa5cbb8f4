package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// laterPages are listings that read an index in their order, each with the size of its pages, of
// which there are several.
var laterPages = []journal.ListFilter{
	{Where: `status = failed`, Limit: pageOf},
	{Where: `status = failed order by created asc`, Limit: pageOf},
	{Where: `status = "failed" and version >= 1`, Limit: pageOf},
	{Where: `status = open`, Limit: 20},
	{Where: `status = open order by created asc`, Limit: 20},
	{Where: `status = blocked`, Limit: 4},
	{Where: `status in (failed, blocked)`, Limit: pageOf},
	{Where: `status in (cancelled, open) order by created asc`, Limit: 20},
	{Where: `waiting starts with "signal"`, Limit: 20},
	{Where: `workflow = "order"`, Limit: pageOf},
	{Where: `order by closed desc`, Limit: pageOf},
	{Where: `closed < -20d order by closed asc`, Limit: pageOf},
	{Where: `order by duration desc`, Limit: pageOf},
	{Where: `order by duration asc`, Limit: pageOf},
	{Where: `version >= 1`, Status: new(journal.Failed), Limit: pageOf},
	{Where: `version >= 1`, State: new(journal.Blocked), Limit: 4},
	{Status: new(journal.Failed), Limit: pageOf},
	{Status: new(journal.Open), Limit: 20},
	{State: new(journal.Blocked), Limit: 4},
}

// rowsBehind counts the rows that a page in the order of ids may read: those behind its cursor, of
// runs and tasks, among which the planner may look for what is selected. Events have an index of
// what is selected, and so have the other orders.
func rowsBehind(t *testing.T, conn *pgx.Conn, f *journal.ListFilter) map[string]int {
	behind := map[string]int{"runs": 0, "tasks": 0, "events": 0}
	if strings.Contains(f.Where, "order by") && !strings.Contains(f.Where, "order by created") {
		return behind
	}
	run, _, _ := strings.Cut(f.Cursor, ".")
	var runs, tasks int
	err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM reprise.runs WHERE id < $1 AND NOT $2 OR id > $1 AND $2),
		(SELECT count(*) FROM reprise.tasks WHERE run_id < $1 AND NOT $2 OR run_id > $1 AND $2)`, run, strings.Contains(f.Where, "asc")).Scan(&runs, &tasks)
	if err != nil {
		t.Fatal(err)
	}
	behind["runs"], behind["tasks"] = runs, tasks
	return behind
}

// TestLaterPageBeginsAtItsCursor: a page reads what stands behind its cursor. It does not read the
// rows that the pages before it have had.
func TestLaterPageBeginsAtItsCursor(t *testing.T) {
	t.Parallel()
	const pagesMax = 30
	dsn := pgtest.Empty(t)
	conn := plantMonth(t, dsn, 20_000)
	s, err := postgres.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, f := range laterPages {
		name := fmt.Sprintf("%q", f.Where)
		if f.Status != nil {
			name += " and status " + f.Status.String()
		}
		if f.State != nil {
			name += " and state " + f.State.String()
		}
		cursors := []string{""}
		for len(cursors) < pagesMax {
			page, err := s.List(t.Context(), f)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if page.Next == "" {
				break
			}
			f.Cursor = page.Next
			cursors = append(cursors, f.Cursor)
		}
		if len(cursors) < 4 {
			t.Errorf("%s: %d pages, which tell nothing", name, len(cursors))
		}
		for _, page := range []int{len(cursors) / 2, len(cursors) - 1} {
			f.Cursor = cursors[page]
			readsBehind(t, conn, &f, fmt.Sprintf("%s: page %d", name, page+1))
		}
	}
}

// readsBehind checks what a page reads that does not begin a listing.
func readsBehind(t *testing.T, conn *pgx.Conn, f *journal.ListFilter, page string) {
	t.Helper()
	sql, args, err := postgres.FindStatement(f, time.Now())
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	plan, text, err := measured(t, conn, sql, args)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	for table, behind := range rowsBehind(t, conn, f) {
		if most, where := plan.mostRead(table); most > float64(max(2*f.Limit, behind)) {
			t.Errorf("%s of %d runs reads %v rows by a %s, %d are behind the cursor\n%s", page, f.Limit, most, where, behind, text)
		}
	}
	if plan.Rows == 0 {
		t.Errorf("%s selects nothing", page)
	}
}
