package runtimetest_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// The code under test: a sale that is entered into a table, in the transaction of its step.
const Sell workflow.Name[string, int64] = "sell"

func sell(ctx workflow.Context, what string) (int64, error) {
	return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx *sql.Tx) (int64, error) {
		res, err := tx.ExecContext(ctx, `insert into sales values ($1)`, what)
		if err != nil {
			return 0, err
		}
		return res.RowsAffected()
	}, nil)
}

// The SQL is executed on a real database, and is there once although the node crashes at every
// turn: the body is executed again only if what it did was rolled back.
func ExampleTxFrom() {
	inTest(func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			db, err := sql.Open("sqlite", filepath.Join(e.TempDir(), "sales.db"))
			if err != nil {
				e.Fatal(err)
			}
			e.Cleanup(func() { db.Close() })
			if _, err := db.Exec(`create table sales (what text)`); err != nil {
				e.Fatal(err)
			}
			runtimetest.TxFrom(e, func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) })

			runtimetest.Handle(e, Sell, sell, nil)
			runtimetest.Start(e, Sell, "pen", nil).Must()
			var rows int
			if err := db.QueryRow(`select count(*) from sales`).Scan(&rows); err != nil {
				e.Fatal(err)
			}
			fmt.Println(rows, "row, executed", e.Effects("enter"), "times")
		})
	})
	// Output:
	// 1 row, executed 1 times
	// 1 row, executed 2 times
	// 1 row, executed 1 times
}
