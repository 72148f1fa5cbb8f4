package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// databaseCreateSQL makes the table in which a database beside the store's keeps what steps have
// returned. It is where the search path says, because the database is not the engine's.
const databaseCreateSQL = `
CREATE TABLE IF NOT EXISTS reprise_steps (
    key text PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    done boolean NOT NULL DEFAULT false,
    encoding text NOT NULL DEFAULT '',
    output bytea NOT NULL DEFAULT ''
)`

// databaseThereSQL tells whether the table exists. CREATE TABLE IF NOT EXISTS wants the right to
// create also if there is nothing to create.
const databaseThereSQL = `SELECT to_regclass('reprise_steps') IS NOT NULL`

// databaseEnterSQL takes a key, and remembers how to take the session back. A second attempt of a
// step waits here for the end of the first one's transaction, so fn is never at work twice.
const databaseEnterSQL = `
WITH entered AS (
    INSERT INTO reprise_steps (key) VALUES ($1) ON CONFLICT DO NOTHING RETURNING key
)
SELECT (SELECT count(*) FROM entered) > 0, current_setting('role'), current_setting('search_path')`

// databaseKeptSQL reads what is kept under a key.
const databaseKeptSQL = `SELECT done, encoding, output FROM reprise_steps WHERE key = $1`

// databaseResetSQL takes back the role and the search path that the body has set, for the statement
// after it.
const databaseResetSQL = `SELECT set_config('role', $1, true), set_config('search_path', $2, true)`

// databaseKeepSQL keeps an output. It changes nothing if the row is not the transaction's.
const databaseKeepSQL = `UPDATE reprise_steps SET done = true, encoding = $2, output = $3 WHERE key = $1 AND NOT done`

// databaseForgetSQL forgets what was kept before a time.
const databaseForgetSQL = `DELETE FROM reprise_steps WHERE at < $1`

// Database is a database beside the store's, for workflow.StepIn.
//
// It keeps what a step has returned in the table reprise_steps, a row for each step, in the
// transaction of the step. So an attempt after a lost answer, or after the end of a process, finds
// the row, and does nothing. A body that has committed its transaction by SQL has left its row
// without an output: the step fails for good then, as its effect is there.
//
// The role of the pool needs SELECT, INSERT and UPDATE on the table, and DELETE for Forget.
// OpenDatabase makes the table in the first schema of the search path if it does not exist; for
// that it needs CREATE on the schema. Who wants to make it beforehand does so by the statement that
// DatabaseTable returns.
type Database struct{ pool *pgxpool.Pool }

// DatabaseTable returns the statement that makes the table of a [Database].
func DatabaseTable() string { return databaseCreateSQL }

// OpenDatabase returns the database of a pool, which stays the caller's to close, and makes the
// table if it does not exist.
func OpenDatabase(ctx context.Context, pool *pgxpool.Pool) (*Database, error) {
	d := &Database{pool: pool}
	there, err := d.there(ctx)
	if err == nil && !there {
		if _, err = pool.Exec(ctx, databaseCreateSQL); err != nil { // another process may have been faster
			if there, _ := d.there(ctx); there {
				err = nil
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the database of steps: table reprise_steps: %w", err)
	}
	return d, nil
}

func (d *Database) there(ctx context.Context) (there bool, err error) {
	err = d.pool.QueryRow(ctx, databaseThereSQL).Scan(&there)
	return there, err
}

// Forget removes what steps have returned before a time, and tells how many. A step must not be
// tried again after that, so keep what is younger than the oldest open run.
func (d *Database) Forget(ctx context.Context, before time.Time) (int64, error) {
	tag, err := d.pool.Exec(ctx, databaseForgetSQL, before)
	if err != nil {
		return 0, fmt.Errorf("forget steps: %w", err)
	}
	return tag.RowsAffected(), nil
}

// Once implements workflow.Database.
func (d *Database) Once(
	ctx context.Context, key string, fn func(context.Context, pgx.Tx) (journal.Payload, error),
) (out journal.Payload, err error) {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return out, fmt.Errorf("begin the step's transaction: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(ctx) // does nothing after a commit
	}()
	var entered bool
	var role, path string
	if err := tx.QueryRow(ctx, databaseEnterSQL, key).Scan(&entered, &role, &path); err != nil {
		return out, fmt.Errorf("look for the step in reprise_steps: %w", err)
	}
	if !entered {
		return keptOutput(ctx, tx, key)
	}
	if out, err = fn(ctx, elsewhereTx{tx}); err != nil {
		return out, err
	}
	switch tx.Conn().PgConn().TxStatus() {
	case 'I':
		return out, &driver.TxEndedError{}
	case 'E':
		return out, errors.New("a statement of the step failed and its body went on without the error; return it, " +
			"or run what may fail in a savepoint (tx.Begin)")
	}
	if err := keep(ctx, tx, key, role, path, out); err != nil {
		return out, err
	}
	if err := tx.Commit(ctx); err != nil {
		return out, fmt.Errorf("commit the step's transaction: %w", err)
	}
	return out, nil
}

// keptOutput returns what an earlier attempt has kept.
func keptOutput(ctx context.Context, tx pgx.Tx, key string) (out journal.Payload, err error) {
	var done bool
	if err := tx.QueryRow(ctx, databaseKeptSQL, key).Scan(&done, &out.Encoding, &out.Data); err != nil {
		return out, fmt.Errorf("read the step from reprise_steps: %w", err)
	}
	if !done {
		return journal.Payload{}, &driver.TxEndedError{}
	}
	return out, nil
}

// keep keeps what the body has returned, under the role and the search path of the pool.
func keep(ctx context.Context, tx pgx.Tx, key, role, path string, out journal.Payload) error {
	data := out.Data
	if data == nil {
		data = []byte{}
	}
	var tag pgconn.CommandTag
	_, err := tx.Exec(ctx, databaseResetSQL, role, path)
	if err == nil {
		tag, err = tx.Exec(ctx, databaseKeepSQL, key, out.Encoding, data)
	}
	switch {
	case err != nil:
		return fmt.Errorf("keep the step in reprise_steps: %w", err)
	case tag.RowsAffected() != 1: // the body has rolled back, and begun anew
		return &driver.TxEndedError{}
	}
	return nil
}

// elsewhereTx is what a body has of its transaction in another database.
type elsewhereTx struct{ pgx.Tx }

// Commit refuses.
func (elsewhereTx) Commit(context.Context) error { return errUserCommit }

// Rollback refuses; a step that wants to roll back returns an error.
func (elsewhereTx) Rollback(context.Context) error { return errUserCommit }
