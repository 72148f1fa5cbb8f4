package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// txWorld is a journal beside a table of the user's own.
type txWorld struct {
	t    *testing.T
	s    *postgres.Store
	j    *driver.Journal
	node journal.NodeID
	conn *pgx.Conn // of the user's program
}

func newTxWorld(t *testing.T, dsn string) *txWorld {
	t.Helper()
	s := open(t, dsn, nil)
	j := driver.New(s, nil)
	w := &txWorld{t: t, s: s, j: j, node: join(t, j), conn: connect(t, dsn)}
	mustExec(t, w.conn, "CREATE TABLE IF NOT EXISTS effects (what text)")
	return w
}

func (w *txWorld) effects() int {
	w.t.Helper()
	return query[int](w.t, w.conn, "SELECT count(*)::int FROM effects")
}

// inTx starts a run and signals it inside a transaction of the user's program.
func (w *txWorld) inTx(tx pgx.Tx, key string) journal.Started {
	w.t.Helper()
	if _, err := tx.Exec(w.t.Context(), "INSERT INTO effects VALUES ($1)", key); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.j.Start(w.t.Context(), postgres.InTx(tx), []journal.Start{{Workflow: "flow", Key: key}})
	if err != nil || out[0].Err != nil || !out[0].Created {
		w.t.Fatal(err, out)
	}
	sent, err := w.j.Send(w.t.Context(), postgres.InTx(tx),
		[]journal.Message{{Run: out[0].Run, Kind: journal.MessageSignal, Name: "sig", Key: "1"}})
	if err != nil || sent[0].Err != nil || sent[0].Number != 1 {
		w.t.Fatal(err, sent)
	}
	return out[0]
}

func TestStartInTheCallersTransaction(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	for _, commits := range []bool{false, true} {
		tx, err := w.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		started := w.inTx(tx, "key")
		if n := runs(t, w.j); n != 0 {
			t.Errorf("%d runs are visible before the transaction commits", n)
		}
		if tasks := claim(t, w.j, w.node, 5); len(tasks) != 0 {
			t.Errorf("%d tasks are claimable before the transaction commits", len(tasks))
		}
		end, want := tx.Rollback, 0
		if commits {
			end, want = tx.Commit, 1
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		tasks := claim(t, w.j, w.node, 5)
		if runs(t, w.j) != want || len(tasks) != want || w.effects() != want {
			t.Errorf("committed %v: %d runs, %d tasks, %d effects", commits, runs(t, w.j), len(tasks), w.effects())
		}
		if commits && (tasks[0].Run.ID != started.Run || tasks[0].Task.InboxLast != 1) {
			t.Errorf("claimed %+v, started %+v", tasks[0], started)
		}
	}
}

func runs(t *testing.T, j *driver.Journal) int {
	t.Helper()
	page, err := j.List(t.Context(), journal.ListFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Runs)
}

// TestStartWaitsForAnUncommittedStart: a second start with the key of a transaction that is still
// open waits for its end, and then gets that run, or its own.
func TestStartWaitsForAnUncommittedStart(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	for _, commits := range []bool{true, false} {
		key := map[bool]string{true: "committed", false: "rolled back"}[commits]
		tx, err := w.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := w.inTx(tx, key)
		answer := make(chan journal.Started, 1)
		go func() {
			out, err := w.j.Start(context.Background(), nil, []journal.Start{{Workflow: "flow", Key: key}})
			if err != nil {
				out = []journal.Started{{Err: err}}
			}
			answer <- out[0]
		}()
		watcher := connect(t, w.conn.Config().ConnString())
		eventually(t, "the second start waits for a lock", func() bool {
			return query[int](t, watcher, `SELECT count(*)::int FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		})
		end := tx.Rollback
		if commits {
			end = tx.Commit
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := <-answer
		if second.Err != nil || second.Created == commits || (second.Run == first.Run) != commits {
			t.Errorf("%s: the second start got %+v, the first %+v", key, second, first)
		}
	}
}

func TestForeignTransactionIsRefused(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	c := owned(t, w.j, w.node)
	if _, err := w.j.Start(t.Context(), foreignTx{}, []journal.Start{{Workflow: "flow"}}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("start: %v", err)
	}
	turn := commitOf(w.j, c, keep, began())
	turn.Tx = foreignTx{}
	if out, err := w.j.Commit(t.Context(), []driver.Commit{turn}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("commit: %v %v", out, err)
	}
}

type foreignTx struct{ journal.Tx }

// step begins the transaction of a step and writes an effect in it.
func (w *txWorld) step() journal.Tx {
	w.t.Helper()
	tx, err := w.j.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := tx.Value().(pgx.Tx).Exec(w.t.Context(), "INSERT INTO effects VALUES ('step')"); err != nil {
		w.t.Fatal(err)
	}
	return tx
}

func TestStepTxCommitsWithItsEvent(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a", "b"))
	commit(t, w.j, first)

	second := after(first, keep, stepDone(1, "a"))
	second.Tx = w.step()
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects are visible before the commit", n)
	}
	commit(t, w.j, second)
	if n := w.effects(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	third := after(second, closing, stepDone(2, "b"), completed())
	third.Tx = w.step()
	commit(t, w.j, third)
	if n, evs := w.effects(), events(t, w.j, third.Run); n != 2 || len(evs) != 4 {
		t.Errorf("%d effects, %d events", n, len(evs))
	}
	if err := third.Tx.Rollback(t.Context()); err != nil || w.effects() != 2 {
		t.Errorf("rollback after the commit: %v, %d effects", err, w.effects())
	}
}

func TestStepTxThatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
	commit(t, w.j, first)
	try := func(what string, is error, change func(c *driver.Commit)) {
		t.Helper()
		c := after(first, keep, stepDone(1, "a"))
		c.Tx = w.step()
		change(&c)
		out, err := w.j.Commit(t.Context(), []driver.Commit{c})
		if err != nil || !errors.Is(out[0].Err, is) {
			t.Errorf("%s: got %v, %v, want %v", what, out, err, is)
		}
		if n, evs := w.effects(), events(t, w.j, first.Run); n != 0 || len(evs) != 1 {
			t.Errorf("%s: %d effects, %d events", what, n, len(evs))
		}
	}
	try("a zombie (J3)", journal.ErrFenced, func(c *driver.Commit) { c.Fence-- })
	try("a stale turn (J3)", journal.ErrFenced, func(c *driver.Commit) { c.Turn += 5 })
	try("rolled back before", journal.ErrTxLost, func(c *driver.Commit) {
		if err := c.Tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	})
	try("failed before", journal.ErrTxLost, func(c *driver.Commit) {
		if _, err := c.Tx.Value().(pgx.Tx).Exec(t.Context(), "SELECT 1/0"); err == nil {
			t.Error("division by zero worked")
		}
	})
	try("killed by an administrator", journal.ErrTxLost, func(c *driver.Commit) {
		var pid int
		if err := c.Tx.Value().(pgx.Tx).QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		mustExec(t, w.conn, "SELECT pg_terminate_backend($1, 5000)", pid)
	})
	c := after(first, keep, stepDone(1, "a"))
	c.Head = first.Head
	c.Events[0].Seq = 1
	chain(&c)
	c.Tx = w.step()
	out, err := w.j.Commit(t.Context(), []driver.Commit{c})
	if err != nil || !errors.Is(out[0].Err, journal.ErrFenced) || w.effects() != 0 {
		t.Errorf("a stale history (J1): %v, %v, %d effects", out, err, w.effects())
	}
	done := after(first, keep, stepDone(1, "a"))
	done.Tx = w.step()
	commit(t, w.j, done)
	if n := w.effects(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func TestStepTxIsEndedByTheEngineOnly(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	tx := w.step()
	user := tx.Value().(pgx.Tx)
	for what, err := range map[string]error{"commit": user.Commit(t.Context()), "rollback": user.Rollback(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "engine") {
			t.Errorf("%s by user code: %v", what, err)
		}
	}
	err := pgx.BeginFunc(t.Context(), user, func(inner pgx.Tx) error { // a savepoint is the user's own
		_, err := inner.Exec(t.Context(), "INSERT INTO effects VALUES ('inner')")
		return errors.Join(err, errors.New("roll back to the savepoint"))
	})
	if err == nil {
		t.Error("the savepoint was kept")
	}
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began())
	first.Tx = tx
	commit(t, w.j, first)
	if n := w.effects(); n != 1 {
		t.Errorf("%d effects, want the one outside of the savepoint", n)
	}
}

// TestStepTxsLeaveRoomForCommits: transactions that steps hold open never starve the engine's own
// work.
func TestStepTxsLeaveRoomForCommits(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, &postgres.Options{PoolSize: 4})
	j := driver.New(s, nil)
	node := join(t, j)
	held, err := j.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		tx, err := j.Begin(ctx)
		if err == nil {
			err = tx.Rollback(ctx)
		}
		waiting <- err
	}()
	for range 20 {
		c := owned(t, j, node)
		commit(t, j, commitOf(j, c, closing, began(), completed()))
	}
	select {
	case err := <-waiting:
		t.Errorf("a second transaction did not wait: %v", err)
	default:
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := j.Begin(ctx); err == nil {
		t.Error("began with a context that has ended")
	}
}
