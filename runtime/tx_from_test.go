package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const transfer workflow.Name[int, int] = "transfer"

// bank has accounts in a Postgres database of the test's. Its pool is the bubble's own.
type bank struct {
	e    *runtimetest.Env
	pool *pgxpool.Pool
}

func newBank(e *runtimetest.Env, dsn string) *bank {
	e.Helper()
	pool, err := pgxpool.New(e.Context(), strings.Replace(dsn, "127.0.0.1", "localhost", 1))
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(pool.Close)
	b := &bank{e, pool}
	b.exec(`DROP TABLE IF EXISTS accounts, entries, reprise_steps`)
	b.exec(`CREATE TABLE accounts (name text, cents int, UNIQUE (name) DEFERRABLE INITIALLY DEFERRED)`)
	b.exec(`CREATE TABLE entries (what text)`)
	b.exec(`INSERT INTO accounts VALUES ('ann', 100), ('bob', 100)`)
	return b
}

func (b *bank) exec(sql string) {
	b.e.Helper()
	if _, err := b.pool.Exec(b.e.Context(), sql); err != nil {
		b.e.Fatal(err)
	}
}

func (b *bank) want(state string) {
	b.e.Helper()
	var got string
	err := b.pool.QueryRow(b.e.Context(), `
		SELECT coalesce((SELECT string_agg(name || ' ' || cents, ', ' ORDER BY name, cents) FROM accounts), '') || '; ' ||
			(SELECT count(*) FROM entries)`).Scan(&got)
	if err != nil || got != state {
		b.e.Errorf("the bank has %q, %v, want %q", got, err, state)
	}
}

// add is the body of a step.
func add(name string, cents int) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE accounts SET cents = cents + $1 WHERE name = $2`, cents, name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO entries VALUES ($1)`, name)
		return err
	}
}

// TestTxFromPostgres: what steps do by SQL is there once, wherever the node crashes, though two
// runs write the same rows, and month-long pauses are between them.
func TestTxFromPostgres(t *testing.T) {
	dsn := pgtest.Empty(t)
	repeated := 0
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		b := newBank(e, dsn)
		runtimetest.TxFrom(e, b.pool.Begin)
		runtimetest.Handle(e, transfer, func(ctx workflow.Context, cents int) (int, error) {
			if err := workflow.DoTx(ctx, "out", add("ann", -cents), nil); err != nil {
				return 0, err
			}
			if err := workflow.Sleep(ctx, 30*24*time.Hour); err != nil {
				return 0, err
			}
			return cents, workflow.DoTx(ctx, "in", add("bob", cents), nil)
		}, nil)
		first, second := runtimetest.Start(e, transfer, 30, nil), runtimetest.Start(e, transfer, 5, nil)
		first.Must()
		second.Must()
		b.want("ann 65, bob 135; 4")
		if e.Effects("out")+e.Effects("in") > 4 {
			repeated++
		}
	})
	if repeated < 3 {
		t.Errorf("steps were repeated in %d cases", repeated)
	}
}

// TestTxFromPostgresAmidBodies: a crash, or a deployment, while bodies hold locks and do not look
// at their contexts. The next node's bodies do not wait for those locks, which would stop the
// clock.
func TestTxFromPostgresAmidBodies(t *testing.T) {
	dsn := pgtest.Empty(t)
	for name, disturb := range map[string]func(*runtimetest.Env){"crash": (*runtimetest.Env).Crash, "restart": (*runtimetest.Env).Restart} {
		t.Run(name, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				b := newBank(e, dsn)
				runtimetest.TxFrom(e, b.pool.Begin)
				runtimetest.Handle(e, transfer, func(ctx workflow.Context, cents int) (int, error) {
					return cents, workflow.DoTx(ctx, "in", func(ctx context.Context, tx pgx.Tx) error {
						err := add("bob", cents)(ctx, tx)
						time.Sleep(time.Hour)
						return err
					}, nil)
				}, nil)
				first, second := runtimetest.Start(e, transfer, 30, nil), runtimetest.Start(e, transfer, 5, nil)
				e.Sleep(time.Minute)
				disturb(e)
				first.Must()
				second.Must()
				b.want("ann 100, bob 135; 2")
			})
		})
	}
}

// TestTxFromPostgresLost: transactions that cannot be committed, and those that their bodies have
// ended. Each is said of its step.
func TestTxFromPostgresLost(t *testing.T) {
	dsn := pgtest.Empty(t)
	sql := func(statements ...string) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) (err error) {
			for _, sql := range statements {
				_, err = tx.Exec(ctx, sql)
			}
			return err
		}
	}
	const ended = `transaction of step "do": the body of the step has ended its transaction`
	for name, test := range map[string]struct {
		body     func(context.Context, pgx.Tx) error
		want     string
		attempts int
		state    string
	}{
		"a constraint at the commit": {sql(`INSERT INTO accounts VALUES ('ann', 1)`),
			`transaction of step "do": cannot commit: ERROR: duplicate key`, 2, "ann 100, bob 100; 0"},
		"an error that the body swallows": {func(ctx context.Context, tx pgx.Tx) error { sql(`SELECT 1/0`)(ctx, tx); return nil },
			`transaction of step "do": a statement of the step failed and its body went on`, 2, "ann 100, bob 100; 0"},
		"Commit": {func(ctx context.Context, tx pgx.Tx) error { return errors.Join(add("bob", 1)(ctx, tx), tx.Commit(ctx)) }, ended, 1, "ann 100, bob 101; 1"},
		"Rollback": {func(ctx context.Context, tx pgx.Tx) error {
			return errors.Join(add("bob", 1)(ctx, tx), tx.Rollback(ctx))
		}, ended, 1, "ann 100, bob 100; 0"},
		"COMMIT":          {sql(`DELETE FROM accounts`, `COMMIT`), ended, 1, "; 0"},
		"COMMIT AND MORE": {sql(`DELETE FROM accounts`, `COMMIT`, `INSERT INTO entries VALUES ('x')`), ended, 1, "; 1"},
		"AND CHAIN":       {sql(`DELETE FROM accounts`, `COMMIT AND CHAIN`), ended, 1, "; 0"},
		"COMMIT, BEGIN":   {sql(`DELETE FROM accounts`, `COMMIT`, `BEGIN`), ended, 1, "; 0"},
		"ROLLBACK":        {sql(`DELETE FROM accounts`, `ROLLBACK`), ended, 1, "ann 100, bob 100; 0"},
		"an error after COMMIT": {func(ctx context.Context, tx pgx.Tx) error {
			return errors.Join(errors.New("after the end"), sql(`DELETE FROM accounts`, `COMMIT`)(ctx, tx))
		}, ended, 1, "; 0"},
	} {
		t.Run(name, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				b := newBank(e, dsn)
				runtimetest.TxFrom(e, b.pool.Begin)
				runtimetest.Handle(e, transfer, func(ctx workflow.Context, cents int) (int, error) {
					return cents, workflow.DoTx(ctx, "do", test.body, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 2}})
				}, nil)
				if _, err := runtimetest.Start(e, transfer, 1, nil).Result(); err == nil || !strings.Contains(err.Error(), test.want) {
					e.Errorf("the run ended with %v, want %s", err, test.want)
				}
				if n := len(e.Calls("do")); n != test.attempts {
					e.Errorf("%d attempts, want %d", n, test.attempts)
				}
				b.want(test.state)
			})
		})
	}
}

// TestStepInOfTheKit: steps in a database of their own need nothing of the kit: they are executed
// in it as they are, and are there once whatever crashes.
func TestStepInOfTheKit(t *testing.T) {
	dsn := pgtest.Empty(t)
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		b := newBank(e, dsn)
		db, err := postgres.OpenDatabase(e.Context(), b.pool)
		if err != nil {
			e.Fatal(err)
		}
		runtimetest.Handle(e, transfer, func(ctx workflow.Context, cents int) (int, error) {
			if err := workflow.DoIn(ctx, "out", db, add("ann", -cents), nil); err != nil {
				return 0, err
			}
			return cents, workflow.DoIn(ctx, "in", db, add("bob", cents), nil)
		}, nil)
		runtimetest.Start(e, transfer, 30, nil).Must()
		b.want("ann 70, bob 130; 2")
	})
}
