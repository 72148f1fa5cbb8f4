package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// A start in a transaction of the caller's exists if and when that commits, in each way in which
// the caller's connection may execute statements. A transaction that has ended is refused: nothing
// is written beside it.
func TestStartsInTransactionsOfCallers(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	j := driver.New(open(t, dsn, nil), nil)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			config, err := pgx.ParseConfig(dsn)
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			start := func(tx pgx.Tx, n int) ([]journal.Started, error) {
				starts := make([]journal.Start, n)
				for i := range starts {
					starts[i] = journal.Start{Workflow: "flow", Labels: map[string]string{"mode": mode.String()}}
				}
				return j.Start(t.Context(), postgres.InTx(tx), starts)
			}
			count := func(want int) {
				t.Helper()
				if got := query[int](t, conn, "SELECT count(*)::int FROM reprise.runs WHERE labels->>'mode' = $1", mode.String()); got != want {
					t.Errorf("%d runs, want %d", got, want)
				}
			}
			for _, n := range []int{1, 3} { // the statement for one, and the one for many
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := start(tx, n); err != nil {
					t.Fatal(err)
				}
				if err := tx.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
				count(0)
				if _, err := start(tx, n); !errors.Is(err, pgx.ErrTxClosed) {
					t.Errorf("a start in a transaction that has ended returned %v, want %v", err, pgx.ErrTxClosed)
				}
				count(0)
			}
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := start(tx, 2); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			count(2)
		})
	}
}
