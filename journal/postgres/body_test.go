package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// misuse begins a step, has its body do something, and returns how its commit ends.
func (w *txWorld) misuse(first driver.Commit, do func(tx pgx.Tx)) error {
	w.t.Helper()
	c := after(first, keep, stepDone(1, "a"))
	c.Tx = w.step()
	defer c.Tx.Rollback(context.Background())
	do(c.Tx.Value().(pgx.Tx))
	before := w.effects()
	out, err := w.j.Commit(w.t.Context(), []driver.Commit{c})
	if err != nil {
		w.t.Fatal(err)
	}
	if n := w.effects(); n != before || len(events(w.t, w.j, first.Run)) != 1 {
		w.t.Errorf("%d effects more after the commit", n-before)
	}
	return out[0].Err
}

// A body that ends its transaction by SQL is found out: by its next statement, at the commit, and
// when it has failed.
func TestStepTxThatItsBodyEnds(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
	commit(t, w.j, first)
	is := func(what string, err error) {
		t.Helper()
		ended, ok := errors.AsType[*driver.TxEndedError](err)
		if !ok || !errors.Is(ended, journal.ErrTxLost) || !ended.Permanent() {
			t.Errorf("%s: %v", what, err)
		}
	}
	for sql, seen := range map[string]bool{
		"COMMIT": true, "ROLLBACK": true,
		"COMMIT AND CHAIN": true, "rollback and chain": true, "COMMIT AND CHAIN; SELECT 1": true, "COMMIT; BEGIN": false, "COMMIT; BEGIN ISOLATION LEVEL SERIALIZABLE": false,
	} {
		is(sql, w.misuse(first, func(tx pgx.Tx) {
			if _, err := tx.Exec(t.Context(), sql); seen != (err != nil) {
				t.Errorf("%s: %v", sql, err)
			} else if seen {
				is(sql, err)
			}
			if !seen {
				return
			}
			var n int
			_, exec := tx.Exec(t.Context(), "INSERT INTO effects VALUES ('late')")
			rows, query := tx.Query(t.Context(), "SELECT 1")
			_, collected := pgx.CollectRows(rows, pgx.RowTo[int]) // which is where callers may look for the error
			_, savepoint := tx.Begin(t.Context())
			_, prepare := tx.Prepare(t.Context(), "late", "SELECT 1")
			_, copied := tx.CopyFrom(t.Context(), pgx.Identifier{"effects"}, []string{"what"}, pgx.CopyFromRows([][]any{{"late"}}))
			batch := new(pgx.Batch)
			batch.Queue("INSERT INTO effects VALUES ('late')")
			for _, err := range []error{exec, query, collected, savepoint, prepare, copied, tx.QueryRow(t.Context(), "SELECT 1").Scan(&n), tx.SendBatch(t.Context(), batch).Close()} {
				is("after "+sql, err)
			}
		}))
		if strings.Contains(strings.ToUpper(sql), "CHAIN") {
			continue
		}
		is("past the transaction: "+sql, w.misuse(first, func(tx pgx.Tx) { mustExec(t, tx.Conn(), sql) }))
		failing := w.step()
		mustExec(t, failing.Value().(pgx.Tx).Conn(), sql)
		is(sql+", and failed", failing.(driver.CheckedTx).Check(t.Context()))
		_ = failing.Rollback(t.Context())
	}
	good := w.step()
	if err := good.(driver.CheckedTx).Check(t.Context()); err != nil {
		t.Errorf("a body that has only failed: %v", err)
	}
	_ = good.Rollback(t.Context())
	if n := query[int](t, w.conn, "SELECT count(*)::int FROM effects WHERE what = 'late'"); n != 0 {
		t.Errorf("%d statements after the end had an effect", n)
	}
}

// A transaction that its body ends, and that goes on as another one like it, is found out whichever
// way the end was sent. What is only called so is none.
func TestStepTxThatIsChained(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
	commit(t, w.j, first)
	ctx := t.Context()
	batch := func(tx pgx.Tx) pgx.BatchResults {
		b := new(pgx.Batch)
		b.Queue("SELECT 1")
		b.Queue("END AND CHAIN")
		return tx.SendBatch(ctx, b)
	}
	for name, do := range map[string]func(tx pgx.Tx) error{
		"by a query":    func(tx pgx.Tx) error { rows, err := tx.Query(ctx, "COMMIT AND CHAIN"); rows.Close(); return err },
		"by a row":      func(tx pgx.Tx) error { return ignoreNoRows(tx.QueryRow(ctx, "COMMIT WORK AND CHAIN").Scan()) },
		"by a rollback": func(tx pgx.Tx) error { return ignoreNoRows(tx.QueryRow(ctx, "abort and chain;").Scan()) },
		"among others":  func(tx pgx.Tx) error { _, _ = tx.Exec(ctx, "SELECT 1; commit\nand chain ; SELECT 2"); return nil },
		"in a batch":    func(tx pgx.Tx) error { _ = batch(tx).Close(); return nil },
		"in a read one": func(tx pgx.Tx) error { b := batch(tx); _, _ = b.Exec(); _, err := b.Exec(); _ = b.Close(); return err },
		"by another name": func(tx pgx.Tx) error {
			_, err := tx.Prepare(ctx, "finish", "COMMIT AND CHAIN")
			if err == nil {
				b := new(pgx.Batch)
				b.Queue("finish")
				results := tx.SendBatch(ctx, b)
				_, err = results.Exec()
				_ = results.Close()
			}
			return err
		},
	} {
		err := w.misuse(first, func(tx pgx.Tx) {
			if err := do(tx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if !isTxEnded(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := after(first, keep, stepDone(1, "a"))
	good.Tx = w.step()
	tx := good.Tx.Value().(pgx.Tx)
	for _, sql := range []string{"SAVEPOINT chain", "ROLLBACK TO SAVEPOINT chain", "ROLLBACK TO chain",
		"SELECT CASE WHEN true THEN true END AND chain FROM (VALUES (true)) AS v (chain)"} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	commit(t, w.j, good)
}

func ignoreNoRows(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// A commit names the statement that has failed and whose error the body has dropped, whichever way
// it was sent. So does the error of a later statement.
func TestStepTxWhoseBodyDropsAnError(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
	commit(t, w.j, first)
	ctx := t.Context()
	for name, do := range map[string]func(tx pgx.Tx){
		"exec": func(tx pgx.Tx) { _, _ = tx.Exec(ctx, "SELECT 1 /\n 0") },
		"query": func(tx pgx.Tx) {
			if rows, err := tx.Query(ctx, "SELECT 1 / 0"); err == nil {
				rows.Close()
			}
		},
		"read to the end": func(tx pgx.Tx) {
			if rows, err := tx.Query(ctx, "SELECT 1 / 0"); err == nil {
				for rows.Next() {
				}
			}
		},
		"row":      func(tx pgx.Tx) { var n int; _ = tx.QueryRow(ctx, "SELECT 1 / 0").Scan(&n) },
		"prepared": func(tx pgx.Tx) { _, _ = tx.Prepare(ctx, "p", "SELECT 1 / 0 FROM nowhere") },
		"batch": func(tx pgx.Tx) {
			b := new(pgx.Batch)
			b.Queue("SELECT 1 / 0")
			_ = tx.SendBatch(ctx, b).Close()
		},
		"in a savepoint that stays open": func(tx pgx.Tx) {
			inner, err := tx.Begin(ctx)
			if err == nil {
				_, _ = inner.Exec(ctx, "SELECT 1 / 0")
			}
		},
		"the later one": func(tx pgx.Tx) {
			_ = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { _, err := inner.Exec(ctx, "SELECT nothing"); return err })
			_, _ = tx.Exec(ctx, "SELECT 1 / 0")
			_, err := tx.Exec(ctx, "SELECT 2")
			if err == nil || !strings.Contains(err.Error(), "earlier statement of the step") || !strings.Contains(err.Error(), "SELECT 1 / 0") {
				t.Errorf("a later statement: %v", err)
			}
		},
	} {
		err := w.misuse(first, do)
		if !errors.Is(err, journal.ErrTxLost) || !strings.Contains(err.Error(), "a statement of the step failed") || !strings.Contains(err.Error(), "SELECT 1 / 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := w.misuse(first, func(tx pgx.Tx) {
		if _, err := tx.Query(ctx, "SELECT generate_series(1, 3)"); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, journal.ErrTxLost) || !strings.Contains(err.Error(), "close its rows") {
		t.Errorf("rows that stay open: %v", err)
	}
	err = w.misuse(first, func(tx pgx.Tx) { _, _ = tx.Conn().Exec(ctx, "SELECT 1/0") })
	if !errors.Is(err, journal.ErrTxLost) || !strings.Contains(err.Error(), "past the transaction") {
		t.Errorf("past the transaction: %v", err)
	}
}
