package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// otherDatabase is a database beside a store's, with a table of the user's.
type otherDatabase struct {
	t    *testing.T
	d    *postgres.Database
	pool *pgxpool.Pool
}

func newOtherDatabase(t *testing.T) *otherDatabase {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), pgtest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	o := &otherDatabase{t: t, pool: pool}
	o.exec("CREATE TABLE effects (what text)")
	if o.d, err = postgres.OpenDatabase(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *otherDatabase) exec(sql string) {
	o.t.Helper()
	if _, err := o.pool.Exec(o.t.Context(), sql); err != nil {
		o.t.Fatal(err)
	}
}

func (o *otherDatabase) count(sql string) (n int) {
	o.t.Helper()
	if err := o.pool.QueryRow(o.t.Context(), sql).Scan(&n); err != nil {
		o.t.Fatal(err)
	}
	return n
}

// once calls Once for a body that writes an effect and then does something.
func (o *otherDatabase) once(key string, do func(tx pgx.Tx) error) (journal.Payload, error) {
	return o.d.Once(o.t.Context(), key, func(ctx context.Context, tx pgx.Tx) (journal.Payload, error) {
		if _, err := tx.Exec(ctx, "INSERT INTO effects VALUES ($1)", key); err != nil {
			return journal.Payload{}, err
		}
		return journal.Payload{Encoding: "json", Data: []byte(key)}, do(tx)
	})
}

func (o *otherDatabase) want(effects, rows int) {
	o.t.Helper()
	if n, m := o.count("SELECT count(*)::int FROM effects"), o.count("SELECT count(*)::int FROM reprise_steps"); n != effects || m != rows {
		o.t.Errorf("%d effects and %d rows, want %d and %d", n, m, effects, rows)
	}
}

func fine(pgx.Tx) error { return nil }

// A body in another database has its effect once: what it returned is kept with it.
func TestDatabaseKeepsWhatAStepReturned(t *testing.T) {
	t.Parallel()
	o := newOtherDatabase(t)
	refused := errors.New("refused")
	if _, err := o.once("a", func(tx pgx.Tx) error {
		if tx.Commit(t.Context()) == nil || tx.Rollback(t.Context()) == nil {
			t.Error("the body could end the transaction")
		}
		return refused
	}); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	o.want(0, 0)
	for range 2 {
		out, err := o.once("a", fine)
		if err != nil || out.Encoding != "json" || string(out.Data) != "a" {
			t.Errorf("got %+v, %v", out, err)
		}
		o.want(1, 1)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if out, err := o.once("b", fine); err != nil || string(out.Data) != "b" {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
	wg.Wait()
	o.want(2, 2)
	empty, err := o.d.Once(t.Context(), "empty", func(context.Context, pgx.Tx) (journal.Payload, error) { return journal.Payload{}, nil })
	if err != nil || len(empty.Data) != 0 {
		t.Errorf("without an output: %+v, %v", empty, err)
	}
	n, err := o.d.Forget(t.Context(), time.Now().Add(-time.Hour))
	if err != nil || n != 0 {
		t.Errorf("forgot %d of the last hour: %v", n, err)
	}
	if n, err = o.d.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 3 {
		t.Errorf("forgot %d: %v", n, err)
	}
}

// What a body does to its transaction in another database does not repeat its effect.
func TestDatabaseWhoseBodyEndsItsTransaction(t *testing.T) {
	t.Parallel()
	o := newOtherDatabase(t)
	for sql, effects := range map[string]int{"COMMIT": 1, "ROLLBACK": 0, "ROLLBACK; BEGIN": 0} {
		o.exec("TRUNCATE effects; TRUNCATE reprise_steps")
		body := func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), sql); return err }
		if _, err := o.once(sql, body); !errors.Is(err, journal.ErrTxLost) {
			t.Errorf("%s: %v", sql, err)
		}
		o.want(effects, effects)
	}
	o.exec("TRUNCATE effects; TRUNCATE reprise_steps")
	_, err := o.once("x", func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "COMMIT")
		return errors.Join(err, errors.New("later"))
	})
	if err == nil {
		t.Error("no error")
	}
	if _, err = o.once("x", fine); !isTxEnded(err) {
		t.Errorf("the next attempt: %v", err)
	}
	o.want(1, 1)
	_, err = o.once("y", func(tx pgx.Tx) error { _, _ = tx.Exec(t.Context(), "SELECT 1/0"); return nil })
	if err == nil || !strings.Contains(err.Error(), "went on without the error") {
		t.Errorf("an error of SQL that was dropped: %v", err)
	}
	out, err := o.once("two transactions", func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), "COMMIT; BEGIN"); return err })
	if err != nil || string(out.Data) != "two transactions" {
		t.Errorf("%+v, %v", out, err)
	}
	o.want(2, 2)
}

func isTxEnded(err error) bool {
	_, ok := errors.AsType[*driver.TxEndedError](err)
	return ok
}

// A role that may not create the table, and a body that takes another role, are enough.
func TestDatabaseWithLeastRights(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	admin := connect(t, dsn)
	role := "steps_" + strings.ToLower(strings.ReplaceAll(journal.NewRunID().String(), "-", ""))
	tenant := role + "_t"
	mustExec(t, admin, postgres.DatabaseTable()+"; CREATE TABLE effects (what text)")
	mustExec(t, admin, "REVOKE CREATE ON SCHEMA public FROM public; CREATE ROLE "+role+" LOGIN; CREATE ROLE "+tenant+"; GRANT "+tenant+" TO "+role)
	mustExec(t, admin, "GRANT SELECT, INSERT, UPDATE ON reprise_steps TO "+role+"; GRANT INSERT ON effects TO "+tenant)
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET SESSION AUTHORIZATION "+role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d, err := postgres.OpenDatabase(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Once(t.Context(), "k", func(ctx context.Context, tx pgx.Tx) (journal.Payload, error) {
		_, err := tx.Exec(ctx, "SET LOCAL ROLE "+tenant+"; INSERT INTO public.effects VALUES ('x'); SET LOCAL search_path = nowhere")
		return journal.Payload{}, err
	})
	if err != nil {
		t.Error(err)
	}
	mustExec(t, admin, "DROP TABLE reprise_steps")
	if _, err := postgres.OpenDatabase(t.Context(), pool); err == nil || !strings.Contains(err.Error(), "reprise_steps") {
		t.Errorf("without the right to create: %v", err)
	}
}
