package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
)

// slow keeps an append between its lock and its end, with a row lock of somebody else on the index
// of events: an event with its number whose fate is open.
func (w *appendWorld) slow(c driver.Commit) (release func(), done <-chan []error) {
	w.t.Helper()
	blocker := connect(w.t, w.dsn)
	mustExec(w.t, blocker, "BEGIN")
	mustExec(w.t, blocker, "INSERT INTO reprise.events (run_id, at, link, generation, seq, kind) VALUES ($1, now(), 1, 1, $2, 2)",
		c.Run.String(), int32(c.Events[0].Seq))
	answer := make(chan []error, 1)
	go func() {
		out, err := w.j.Commit(context.Background(), []driver.Commit{c})
		if err == nil {
			err = out[0].Err
		}
		answer <- []error{err}
	}()
	eventually(w.t, "the append waits", func() bool {
		return query[int](w.t, w.conn, `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted
			AND objid = $1::bigint::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, int64(w.m.ID())) == 1
	})
	return func() { mustExec(w.t, blocker, "ROLLBACK") }, answer
}

// waits tells whether somebody waits for the lock of a node alone.
func (w *appendWorld) waits() bool {
	return query[bool](w.t, w.conn, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`)
}

// A reap waits for the appends that are on their way, and whoever takes the run then sees them.
func TestReapWaitsForAppendsInFlight(t *testing.T) {
	w := newAppendWorld(t)
	a, b := w.first(), w.first()
	release, done := w.slow(appending(a, stepDone(1, "a")))
	j, m := w.other()
	w.expire(w.m)
	reaped := make(chan error, 1)
	go func() {
		_, err := m.Reap(context.Background(), nil)
		reaped <- err
	}()
	eventually(t, "the reap waits", w.waits)
	if n := query[int](t, w.conn, "SELECT count(*)::int FROM reprise.members WHERE lost_at IS NOT NULL"); n != 0 {
		t.Error("the node is marked although an append of it is on its way")
	}
	release()
	if err := <-reaped; err != nil {
		t.Fatal(err)
	}
	w.want("the append that came before", <-done, nil)
	w.wantAppends("what comes after", w.j, b, journal.ErrNodeLost)
	if n := w.seqs(a, b); !slices.Equal(n, []int{2, 1}) {
		t.Errorf("histories have %v events", n)
	}
	if tasks := claim(t, j, m.ID(), 5); len(tasks) != 2 {
		t.Errorf("claimed %d runs, want 2", len(tasks))
	}
}

// A termination waits for the appends that are on their way, and its event comes behind theirs.
func TestTerminationWaitsForAppendsInFlight(t *testing.T) {
	w := newAppendWorld(t)
	a := w.first()
	release, done := w.slow(appending(a, stepDone(1, "a")))
	terminated := make(chan error, 1)
	j := driver.New(open(t, w.dsn, nil), nil)
	go func() {
		_, err := j.Admin(context.Background(), driver.AdminAction{Run: a.Run, Kind: driver.AdminTerminate, Reason: "r"})
		terminated <- err
	}()
	eventually(t, "the termination waits", w.waits)
	release()
	if err := <-terminated; err != nil {
		t.Fatal(err)
	}
	w.want("the append", <-done, nil)
	list := events(t, w.j, a.Run)
	if len(list) != 3 || list[2].Kind != journal.RunTerminated || list[2].Link != 0 {
		t.Errorf("the history is %v", list)
	}
}

// An append that has waited for whoever excluded it sees what that one did: its snapshot is newer
// than the lock.
func TestAppendsSeeWhatTheyWaitedFor(t *testing.T) {
	for what, c := range map[string]struct {
		sql  []string
		want error
	}{
		"a reap": {[]string{"UPDATE reprise.members SET lost_at = now() WHERE node = $1"}, journal.ErrNodeLost},
		"a termination": {[]string{
			`INSERT INTO reprise.events (run_id, at, link, generation, seq, kind)
			 SELECT t.run_id, now(), 0, 1, 2, 23 FROM reprise.tasks t WHERE t.owner = $1`,
			`UPDATE reprise.runs SET status = 4, closed_at = now(), closed_seq = 2
			 WHERE id IN (SELECT t.run_id FROM reprise.tasks t WHERE t.owner = $1)`,
			"UPDATE reprise.members SET recalled = recalled + 1 WHERE node = $1", "DELETE FROM reprise.tasks WHERE owner = $1",
		}, journal.ErrFenced},
	} {
		t.Run(what, func(t *testing.T) {
			w := newAppendWorld(t)
			node, a, b := int32(w.m.ID()), w.first(), w.first()
			excluder := connect(t, w.dsn)
			mustExec(t, excluder, "BEGIN")
			mustExec(t, excluder, "SELECT pg_advisory_xact_lock($1, $2)", postgres.AppendClass, node)
			for _, sql := range c.sql {
				mustExec(t, excluder, sql, node)
			}
			done := make(chan error, 1)
			go func() {
				out, err := w.j.Commit(context.Background(), []driver.Commit{appending(a, stepDone(1, "a"))})
				if err == nil {
					err = out[0].Err
				}
				done <- err
			}()
			go func() { // by the statement for batches
				out, err := w.j.Commit(context.Background(), []driver.Commit{appending(b, stepDone(1, "a"), stepDone(2, "b"))})
				if err == nil {
					err = out[0].Err
				}
				done <- err
			}()
			eventually(t, "the appends wait", func() bool {
				return query[int](t, w.conn, `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND NOT granted
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 2
			})
			mustExec(t, excluder, "COMMIT")
			for range 2 {
				if err := <-done; !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
		})
	}
}

// A session that hangs with a node's lock, as a network leaves it that is cut in the middle of a
// request, is ended by who needs the lock.
func TestStalledAppendsAreEnded(t *testing.T) {
	for name, act := range map[string]func(w *appendWorld, run journal.RunID) error{
		"reap": func(w *appendWorld, _ journal.RunID) error {
			_, m := w.other()
			w.expire(w.m)
			r, err := m.Reap(w.t.Context(), nil)
			if len(r.Nodes) != 1 {
				w.t.Errorf("declared dead: %v", r.Nodes)
			}
			return err
		},
		"terminate": func(w *appendWorld, run journal.RunID) error {
			_, err := w.j.Admin(w.t.Context(), driver.AdminAction{Run: run, Kind: driver.AdminTerminate})
			return err
		},
		"leave": func(w *appendWorld, _ journal.RunID) error { return w.m.Leave(w.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newAppendWorld(t)
			a := w.first()
			stalled := connect(t, w.dsn)
			mustExec(t, stalled, "BEGIN")
			mustExec(t, stalled, "SELECT pg_advisory_xact_lock_shared($1, $2)", postgres.AppendClass, int32(w.m.ID()))
			if err := act(w, a.Run); err != nil {
				t.Error(err)
			}
			if _, err := stalled.Exec(t.Context(), "SELECT 1"); err == nil {
				t.Error("the session lives")
			}
		})
	}
}

// A run that is closed by somebody else is recalled: appends of the node go the long way, and the
// node is asked once to compare.
func TestRecall(t *testing.T) {
	w := newAppendWorld(t)
	a, b := w.first(), w.first()
	w.compares(false)
	if _, err := w.j.Admin(t.Context(), driver.AdminAction{Run: a.Run, Kind: driver.AdminTerminate}); err != nil {
		t.Fatal(err)
	}
	before := w.taskOf(b.Run)
	b2 := appending(b, stepDone(1, "a"))
	w.want("appends that know of no recall", w.errs(w.j, appending(a, stepDone(1, "a")), b2), journal.ErrFenced, nil)
	if got := w.taskOf(b.Run); got != before {
		t.Errorf("the long way changed the task: %s, was %s", got, before)
	}
	wrong := appending(b2, stepDone(2, "b"))
	wrong.Fence++
	w.want("the long way compares the fence", w.errs(w.j, wrong), journal.ErrFenced)
	wrongToo := appending(b2, stepDone(2, "b"), stepDone(3, "c"))
	wrongToo.Fence++
	w.want("the long way compares the fence of two events", w.errs(w.j, wrongToo), journal.ErrFenced)
	w.compares(true)
	w.compares(true)
	if list := w.owned(w.m); len(list) != 1 {
		t.Errorf("the node owns %v", list)
	}
	w.compares(false)
	w.want("the short way does not", w.errs(w.j, wrong), nil)
}

// A parent that closes recalls its children, whoever owns them.
func TestRecallByAParentsClose(t *testing.T) {
	w := newAppendWorld(t)
	j, m := w.other()
	parent := commitOf(w.j, born(t, w.j, w.m.ID()), keep, began("a"))
	commit(t, w.j, parent)
	run := start(t, j, journal.Start{Owner: m.ID(), Parent: &journal.Parent{Run: parent.Run, Generation: 1, Cmd: 1, Policy: journal.CloseTerminate}})
	child := commitOf(j, driver.Claimed{Run: journal.Run{ID: run.Run}, Task: journal.Task{Generation: 1, Owner: m.ID(), Fence: journal.FenceAtBirth}},
		keep, began("a"))
	commit(t, j, child)
	end := after(parent, closing, completed())
	end.Children = true
	commit(t, w.j, end)
	r, err := m.Renew(t.Context())
	if err != nil || !r.Compare {
		t.Errorf("the child's owner is told %v, %v", r.Compare, err)
	}
	w.compares(false)
	w.wantAppends("the child's append", j, child, journal.ErrFenced)
}
