package pages_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const Transfer workflow.Name[int, bool] = "transfer"

// transfer moves money by two steps, each in a transaction.
func transfer(ctx workflow.Context, cents int) (bool, error) {
	if err := workflow.DoTx(ctx, "withdraw", add("ann", -cents), nil); err != nil {
		return false, err
	}
	return true, workflow.DoTx(ctx, "deposit", add("bob", cents), nil)
}

func add(name string, cents int) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE accounts SET cents = cents + $1 WHERE name = $2", cents, name)
		return err
	}
}

// testDSN is the address of a private Postgres, which ends with the test.
func testDSN(t *testing.T) string {
	t.Helper()
	server, err := pgserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.DSN("postgres")
}

func TestTransfer(t *testing.T) {
	dsn := testDSN(t) // outside: the server runs for all cases
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		pool, err := pgxpool.New(e.Context(), dsn) // inside: the pool is the bubble's
		if err != nil {
			e.Fatal(err)
		}
		e.Cleanup(pool.Close)
		const tables = "DROP TABLE IF EXISTS accounts; CREATE TABLE accounts AS SELECT name, 100 AS cents FROM unnest(array['ann', 'bob']) name"
		if _, err := pool.Exec(e.Context(), tables); err != nil {
			e.Fatal(err)
		}
		runtimetest.TxFrom(e, pool.Begin)

		runtimetest.Handle(e, Transfer, transfer, nil)
		runtimetest.Start(e, Transfer, 30, nil).Must()
		var ann, bob int
		const balances = "SELECT min(cents), max(cents) FROM accounts"
		if err := pool.QueryRow(e.Context(), balances).Scan(&ann, &bob); err != nil || ann != 70 || bob != 130 {
			e.Errorf("ann has %d, bob %d, %v", ann, bob, err)
		}
	})
}
