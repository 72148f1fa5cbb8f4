package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// J2: a member whose effects the server refuses is written not at all, and the others of its batch
// with theirs, once.
func TestJ2_AMemberWithBadEffects(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	j := driver.New(s, nil)
	node := join(t, j)
	var commits []driver.Commit
	target := start(t, j, journal.Start{Delay: time.Hour})
	for i := range 3 {
		c := commitOf(j, owned(t, j, node), keep, began())
		c.Messages = []journal.Message{{Run: target.Run, Kind: journal.MessageSignal, Name: "s", Key: fmt.Sprint("~", i), Cmd: 1}}
		child := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Queue: "other", Version: 1, Priority: 3, Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: 2}}
		if i == 1 {
			child.Trace = "\x00" // which the journal would not let through
		}
		c.Starts = []journal.Start{child}
		commits = append(commits, c)
	}
	out, err := s.Commit(t.Context(), commits)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out {
		ok := o.Err == nil && o.InboxLast == 1 && len(o.Started) == 1 && o.Started[0].Created && len(o.Sent) == 1
		if ok != (i != 1) {
			t.Errorf("member %d: %+v", i, o)
		}
		page, err := s.List(t.Context(), journal.ListFilter{Parent: commits[i].Run})
		if err != nil || len(page.Runs) != len(o.Started) {
			t.Errorf("member %d has %d children: %v", i, len(page.Runs), err)
		}
	}
	if n := query[int](t, connect(t, dsn), `SELECT count(*)::int FROM reprise.inbox WHERE run_id = $1`, [16]byte(target.Run)); n != 2 {
		t.Errorf("the target has %d messages, want those of two members", n)
	}
}

// TestARolledBackCallLeavesAConnection: a transaction that is refused half-way does not cost the
// pool its connection.
func TestARolledBackCallLeavesAConnection(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	run := start(t, driver.New(s, nil), journal.Start{}).Run
	action := driver.AdminAction{Run: run, Kind: driver.AdminTerminate}
	if _, err := s.Admin(t.Context(), action); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	sessions := func() string {
		return query[string](t, conn, `SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'reprise'`)
	}
	before := ""
	eventually(t, "the listener has its connection, too", func() bool {
		if _, err := s.Nodes(t.Context()); err != nil { // a pool whose connection fell silent opens one for a call only
			t.Fatal(err)
		}
		before = sessions()
		return strings.Contains(before, " ")
	})
	for range 3 {
		if _, err := s.Admin(t.Context(), action); !errors.Is(err, journal.ErrClosed) {
			t.Fatal(err)
		}
	}
	if after := sessions(); after != before {
		t.Errorf("sessions were %s and are %s", before, after)
	}
}

// pastSQL gives a run a past: generations that consumed a hundred messages each, of which it has
// carried two to the current one.
const pastSQL = `
WITH run AS (
    INSERT INTO reprise.runs (id, created_at, generation, version, priority, holds_key, workflow, queue, inbox_seen, carried)
    VALUES (gen_random_uuid(), now(), $1::int + 1, 1, 3, false, 'w', 'q', $1::int * 100, ARRAY[7, $1::int * 100]) RETURNING id
), inbox AS (
    INSERT INTO reprise.inbox (run_id, number, digest, kind, at, key, name)
    SELECT id, n, 1, 1, now(), n::text, 's' FROM run CROSS JOIN generate_series(1, $1::int * 100 + 3) n
), events AS (
    INSERT INTO reprise.events (run_id, generation, seq, link, at, kind, name, inbox)
    SELECT id, 1 + (n - 1) / 100, 1 + (n - 1) % 100, 1, now(), 5, 's', n FROM run CROSS JOIN generate_series(1, $1::int * 100) n
)
SELECT id::text FROM run`

// TestLoadIsFlat: what earlier generations consumed is not looked at.
func TestLoadIsFlat(t *testing.T) {
	t.Parallel()
	sql := sqltest.Statements(t, ".")
	conn := connect(t, pgtest.Empty(t))
	migrateSchema(t, conn, pgtest.Schema)
	for _, generations := range []int{2, 500} {
		run := query[string](t, conn, pastSQL, generations)
		mustExec(t, conn, "VACUUM ANALYZE")
		plan := explain(t, conn, sql["loadInboxSQL"], "ARRAY['"+run+"'::uuid]", "ARRAY[0]", "1001", "ARRAY[8388608]", "ARRAY[false]")
		if plan.Rows != 5 {
			t.Errorf("%d generations: %v messages, want two that were carried and three that are new", generations, plan.Rows)
		}
		if blocks := plan.Hit + plan.Read; blocks > 40 {
			t.Errorf("%d generations: loading touches %d blocks", generations, blocks)
		}
		plan.walk(func(n *planNode) {
			if n.Removed > 1 {
				t.Errorf("%d generations: %s %s reads %v rows in vain", generations, n.Type, n.Index, n.Removed)
			}
		})
	}
}
