package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// step begins the transaction of a step and writes an effect in it.
func (w *world) step() journal.Tx {
	w.t.Helper()
	tx, err := w.j.Begin(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if _, err := tx.Value().(*sql.Tx).ExecContext(w.t.Context(), `INSERT INTO effects VALUES (?)`, "step"); err != nil {
		w.t.Fatal(err)
	}
	return tx
}

func TestStepTxCommitsWithItsEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.owned(keep, began)
	w.commit(first)
	second := sqlite.Then(first, keep, stepDone)
	second.Tx = w.step()
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects are visible before the commit", n)
	}
	w.commit(second)
	if n := w.effects(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	third := sqlite.Then(second, closing, completed)
	third.Tx = w.step()
	w.commit(third)
	if n, events := w.effects(), w.history(first.Run).Events; n != 2 || len(events) != 3 {
		t.Errorf("%d effects, %d events", n, len(events))
	}
	if err := third.Tx.Rollback(t.Context()); err != nil || w.effects() != 2 {
		t.Errorf("rollback after the commit: %v, %d effects", err, w.effects())
	}
	if out, err := w.j.Commit(t.Context(), []driver.Commit{third}); err != nil || !errors.Is(out[0].Err, journal.ErrTxLost) {
		t.Errorf("a second commit of one transaction: %v, %v", out, err)
	}
}

// TestStepTxWithoutStatements: a step that did nothing with its transaction takes nothing away from
// the others.
func TestStepTxWithoutStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := w.owned(closing, began, completed)
	tx, err := w.j.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.start(journal.Start{}) // does not wait
	c.Tx = tx
	w.commit(c)
	if n := len(w.history(c.Run).Events); n != 2 {
		t.Errorf("%d events", n)
	}
}

// Whoever has to be asked before the transaction keeps others waiting is asked once, before the
// first statement, and may refuse it.
func TestStepTxAsksBeforeItsFirstStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tx, err := w.j.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked, refusal := 0, errors.New("not now")
	tx.(driver.ExclusiveTx).BeforeUse(func(context.Context) error {
		w.start(journal.Start{}) // nobody waits yet
		if asked++; asked == 1 {
			return refusal
		}
		return nil
	})
	user := tx.Value().(*sql.Tx)
	for i, want := range []error{refusal, nil, nil} {
		if _, err := user.ExecContext(t.Context(), `INSERT INTO effects VALUES ('x')`); !errors.Is(err, want) {
			t.Errorf("statement %d: %v, want %v", i, err, want)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil || asked != 2 {
		t.Errorf("%v, asked %d times, want 2", err, asked)
	}
}

func TestStepTxThatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.owned(keep, began)
	w.commit(first)
	user := func(c *driver.Commit) *sql.Tx { return c.Tx.Value().(*sql.Tx) }
	for what, c := range map[string]struct {
		is     error
		change func(c *driver.Commit)
	}{
		"a zombie (J3)":     {journal.ErrFenced, func(c *driver.Commit) { c.Fence-- }},
		"a stale turn (J3)": {journal.ErrFenced, func(c *driver.Commit) { c.Turn += 5 }},
		"rolled back before": {journal.ErrTxLost, func(c *driver.Commit) {
			if err := c.Tx.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
		}},
		"rolled back by a statement": {journal.ErrTxLost, func(c *driver.Commit) {
			if _, err := user(c).ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Error(err)
			}
		}},
	} {
		commit := sqlite.Then(first, keep, stepDone)
		commit.Tx = w.step()
		c.change(&commit)
		out, err := w.j.Commit(t.Context(), []driver.Commit{commit})
		if err != nil || !errors.Is(out[0].Err, c.is) {
			t.Errorf("%s: got %v, %v, want %v", what, out, err, c.is)
		}
		if n, events := w.effects(), w.history(first.Run).Events; n != 0 || len(events) != 1 {
			t.Errorf("%s: %d effects, %d events", what, n, len(events))
		}
	}
	stale := sqlite.Then(first, keep, stepDone)
	stale.Head = first.Head
	stale = sqlite.Chain(stale)
	stale.Tx = w.step()
	out, err := w.j.Commit(t.Context(), []driver.Commit{stale})
	if err != nil || !errors.Is(out[0].Err, journal.ErrFenced) || w.effects() != 0 {
		t.Errorf("a stale history (J1): %v, %v, %d effects", out, err, w.effects())
	}
	done := sqlite.Then(first, keep, stepDone)
	done.Tx = w.step()
	w.commit(done)
	if n := w.effects(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// TestStepTxIsEndedByTheEngineOnly: what user code does to end the transaction has no effect, and
// it may leave rows open.
func TestStepTxIsEndedByTheEngineOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for what, end := range map[string]func(tx *sql.Tx) error{"commit": (*sql.Tx).Commit, "rollback": (*sql.Tx).Rollback} {
		c := w.owned(closing, began, completed)
		c.Tx = w.step()
		before := w.effects()
		user := c.Tx.Value().(*sql.Tx)
		rows, err := user.QueryContext(t.Context(), `SELECT what FROM effects`)
		if err != nil || !rows.Next() {
			t.Fatal(err, rows.Err())
		}
		statement, err := user.PrepareContext(t.Context(), `INSERT INTO effects VALUES (?)`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := statement.ExecContext(t.Context(), "prepared"); err != nil {
			t.Fatal(err)
		}
		if err := end(user); err == nil || !strings.Contains(err.Error(), "engine") {
			t.Errorf("%s by user code: %v", what, err)
		}
		if n := w.effects(); n != before {
			t.Errorf("%s by user code had an effect", what)
		}
		if _, err := user.ExecContext(t.Context(), `INSERT INTO effects VALUES ('late')`); !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("a statement after %s: %v", what, err)
		}
		w.commit(c)
		if n := w.effects(); n != before+2 {
			t.Errorf("after %s and the engine's commit: %d effects more, want 2", what, n-before)
		}
	}
}

// A body that ends its transaction by SQL is found out: at the commit, and when it has failed.
func TestStepTxThatItsBodyEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, end := range []string{"COMMIT", "ROLLBACK", "COMMIT; BEGIN", "END; BEGIN; INSERT INTO effects VALUES ('more')"} {
		c := w.owned(closing, began, completed)
		c.Tx = w.step()
		if _, err := c.Tx.Value().(*sql.Tx).ExecContext(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		before := w.effects()
		out, err := w.j.Commit(t.Context(), []driver.Commit{c})
		ended, ok := errors.AsType[*driver.TxEndedError](out[0].Err)
		if err != nil || !ok || !errors.Is(ended, journal.ErrTxLost) || !ended.Permanent() {
			t.Errorf("%s: %v, %v", end, out[0].Err, err)
		}
		if n := w.effects(); n != before || len(w.history(c.Run).Events) != 0 {
			t.Errorf("%s: %d effects more after the commit", end, n-before)
		}
		failing := w.step()
		if _, err := failing.Value().(*sql.Tx).ExecContext(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		if err := failing.(driver.CheckedTx).Check(t.Context()); !errors.As(err, &ended) {
			t.Errorf("%s, and failed: %v", end, err)
		}
		if err := failing.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
	good := w.step()
	if err := good.(driver.CheckedTx).Check(t.Context()); err != nil {
		t.Errorf("a body that has only failed: %v", err)
	}
	_ = good.Rollback(t.Context())
	w.start(journal.Start{})
}

// TestStepTxThatTakesTooLong: everybody waits for it, so it is ended, also if it waits for somebody
// who waits for it.
func TestStepTxThatTakesTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &sqlite.Options{TxMax: 50 * time.Millisecond})
	c := w.owned(closing, began, completed)
	c.Tx = w.step()
	w.start(journal.Start{Key: "from outside"}) // has its turn when the time is up
	user := c.Tx.Value().(*sql.Tx)
	if _, err := user.ExecContext(t.Context(), `INSERT INTO effects VALUES ('late')`); err == nil || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("a statement behind the limit: %v", err)
	}
	out, err := w.j.Commit(t.Context(), []driver.Commit{c})
	if err != nil || !errors.Is(out[0].Err, journal.ErrTxLost) || !strings.Contains(out[0].Err.Error(), "50ms") {
		t.Errorf("commit behind the limit: %v, %v", out, err)
	}
	c.Tx = w.step()
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
	if err := c.Tx.Value().(*sql.Tx).QueryRowContext(t.Context(), endless).Scan(new(int)); err == nil {
		t.Error("an endless statement ended")
	}
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects", n)
	}
}

// TestStepTxsAndCallsTakeTurns: neither steps that queue up for the file nor calls starve the
// others.
func TestStepTxsAndCallsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	held := w.step()
	ctx, cancel := context.WithCancel(t.Context())
	second, err := w.j.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 2)
	go func() {
		_, err := second.Value().(*sql.Tx).ExecContext(ctx, `INSERT INTO effects VALUES ('second')`)
		waiting <- err
	}()
	go func() {
		_, err := w.s.Start(ctx, nil, []journal.Start{{ID: journal.NewRunID(), Workflow: "flow", Version: 1, Queue: "q", Priority: 3}})
		waiting <- err
	}()
	cancel()
	for range 2 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the end of the wait", err)
		}
	}
	if err := second.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if n := w.runs(); n != 0 {
		t.Errorf("a start that was given up made %d runs", n)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	w.start(journal.Start{})
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects of transactions that were rolled back", n)
	}
}

// TestInTx: starts and messages exist exactly if and when the caller's transaction commits.
func TestInTx(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	inTx := func(tx *sql.Tx, key string) {
		t.Helper()
		out, err := w.j.Start(t.Context(), sqlite.InTx(tx), []journal.Start{{Workflow: "flow", Key: key}})
		if err != nil || out[0].Err != nil || !out[0].Created {
			t.Fatal(err, out)
		}
		sent, err := w.j.Send(t.Context(), sqlite.InTx(tx), []journal.Message{{Run: out[0].Run, Kind: journal.MessageSignal, Name: "sig", Key: "1"}})
		if err != nil || sent[0].Err != nil || sent[0].Number != 1 {
			t.Fatal(err, sent)
		}
	}
	for _, commits := range []bool{false, true} {
		tx, err := w.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		inTx(tx, "the caller's own")
		if n := w.runs(); n != 0 {
			t.Errorf("%d runs are visible before the transaction commits", n)
		}
		end, want := tx.Rollback, 0
		if commits {
			end, want = tx.Commit, 1
		}
		if err := end(); err != nil || w.runs() != want {
			t.Errorf("committed %v: %v, %d runs", commits, err, w.runs())
		}
	}
	c := w.owned(closing, began, completed) // and inside of a step
	c.Tx = w.step()
	inTx(c.Tx.Value().(*sql.Tx), "a step's")
	w.commit(c)
	if n := w.runs(); n != 3 {
		t.Errorf("%d runs, want 3", n)
	}
	if _, err := w.j.Start(t.Context(), foreignTx{}, []journal.Start{{Workflow: "flow"}}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a transaction of another kind: %v", err)
	}
	c.Tx = foreignTx{}
	if _, err := w.j.Commit(t.Context(), []driver.Commit{c}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a commit with a transaction of another kind: %v", err)
	}
}

type foreignTx struct{ journal.Tx }

// TestCloseEndsWhatWaits: closing a store waits for nobody who waits for it.
func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tx := w.step()
	waiting := make(chan error, 1)
	go func() {
		_, err := w.j.Start(context.Background(), nil, []journal.Start{{Workflow: "flow"}})
		waiting <- err
	}()
	w.s.Close()
	if err := <-waiting; err != nil && !errors.Is(err, journal.ErrStoreClosed) {
		t.Errorf("a start in the way of the end: %v", err)
	}
	if _, err := tx.Value().(*sql.Tx).ExecContext(t.Context(), `SELECT 1`); err == nil {
		t.Error("a statement of a step ran on a closed store")
	}
	if _, err := w.j.Begin(t.Context()); !errors.Is(err, journal.ErrStoreClosed) {
		t.Errorf("begin on a closed store: %v", err)
	}
	if _, err := w.j.List(t.Context(), journal.ListFilter{}); !errors.Is(err, journal.ErrStoreClosed) {
		t.Errorf("list on a closed store: %v", err)
	}
	w.s.Close()
}
