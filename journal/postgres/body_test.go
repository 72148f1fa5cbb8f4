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
		"COMMIT AND CHAIN": true, "rollback and chain": true, "COMMIT; BEGIN": false, "COMMIT; BEGIN ISOLATION LEVEL SERIALIZABLE": false,
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
			_, query := tx.Query(t.Context(), "SELECT 1")
			_, prepare := tx.Prepare(t.Context(), "late", "SELECT 1")
			_, copied := tx.CopyFrom(t.Context(), pgx.Identifier{"effects"}, []string{"what"}, pgx.CopyFromRows([][]any{{"late"}}))
			batch := new(pgx.Batch)
			batch.Queue("INSERT INTO effects VALUES ('late')")
			for _, err := range []error{exec, query, prepare, copied, tx.QueryRow(t.Context(), "SELECT 1").Scan(&n), tx.SendBatch(t.Context(), batch).Close()} {
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
	err := w.misuse(first, func(tx pgx.Tx) { _, _ = tx.Conn().Exec(ctx, "SELECT 1/0") })
	if !errors.Is(err, journal.ErrTxLost) || !strings.Contains(err.Error(), "past the transaction") {
		t.Errorf("past the transaction: %v", err)
	}
}
