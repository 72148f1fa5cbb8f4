package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// databaseCreateSQL makes the table in which a database beside the store's keeps what steps have
// returned.
const databaseCreateSQL = `
CREATE TABLE IF NOT EXISTS reprise_steps (
    key TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    encoding TEXT NOT NULL DEFAULT '',
    output BLOB
) WITHOUT ROWID`

// databaseEnterSQL takes a key, and with it the file's only place for a writer. A second attempt of
// a step waits here for the end of the first one's transaction, or fails as busy.
const databaseEnterSQL = `INSERT INTO reprise_steps (key, at) VALUES (?, ?) ON CONFLICT DO NOTHING`

// databaseKeptSQL reads what is kept under a key.
const databaseKeptSQL = `SELECT done, encoding, output FROM reprise_steps WHERE key = ?`

// databaseKeepSQL keeps an output. It changes nothing if the row is not there any more.
const databaseKeepSQL = `UPDATE reprise_steps SET done = 1, encoding = ?, output = ? WHERE key = ? AND done = 0`

// databaseForgetSQL forgets what was kept before a time.
const databaseForgetSQL = `DELETE FROM reprise_steps WHERE at < ?`

// Database is a database beside the store's, for workflow.StepIn: another file of SQLite, by any
// driver of database/sql.
//
// It keeps what a step has returned in the table reprise_steps, a row for each step, in the
// transaction of the step. So an attempt after a lost answer, or after the end of a process, finds
// the row, and does nothing. A body that has committed its transaction has left its row without an
// output: the step fails for good then, as its effect is there.
//
// The file has one writer at a time: give the connections a busy timeout, or an attempt that meets
// another writer fails and is tried again.
type Database struct{ db *sql.DB }

// OpenDatabase returns the database of a file, which stays the caller's to close, and makes the
// table if it does not exist.
func OpenDatabase(ctx context.Context, db *sql.DB) (*Database, error) {
	if _, err := db.ExecContext(ctx, databaseCreateSQL); err != nil {
		return nil, fmt.Errorf("open the database of steps: table reprise_steps: %w", err)
	}
	return &Database{db}, nil
}

// Forget removes what steps have returned before a time, and tells how many. A step must not be
// tried again after that, so keep what is younger than the oldest open run.
func (d *Database) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	res, err := d.db.ExecContext(ctx, databaseForgetSQL, before.UnixMicro())
	if err == nil {
		n, err = res.RowsAffected()
	}
	if err != nil {
		return 0, fmt.Errorf("forget steps: %w", err)
	}
	return n, nil
}

// Once implements workflow.Database.
func (d *Database) Once(
	ctx context.Context, key string, fn func(context.Context, *sql.Tx) (journal.Payload, error),
) (out journal.Payload, err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return out, fmt.Errorf("begin the step's transaction: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	entered, err := changed(tx.ExecContext(ctx, databaseEnterSQL, key, time.Now().UnixMicro()))
	if err != nil {
		return out, fmt.Errorf("look for the step in reprise_steps: %w", err)
	}
	if !entered {
		return keptOutput(ctx, tx, key)
	}
	if out, err = fn(ctx, tx); err != nil {
		return out, err
	}
	mine, err := changed(tx.ExecContext(ctx, databaseKeepSQL, out.Encoding, out.Data, key))
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx) // database/sql has rolled back
	case errors.Is(err, sql.ErrTxDone), err == nil && !mine:
		return out, &driver.TxEndedError{}
	case err != nil:
		return out, fmt.Errorf("keep the step in reprise_steps: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return out, fmt.Errorf("commit the step's transaction: %w", err)
	}
	return out, nil
}

// changed tells whether a statement has changed a row.
func changed(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// keptOutput returns what an earlier attempt has kept.
func keptOutput(ctx context.Context, tx *sql.Tx, key string) (out journal.Payload, err error) {
	var done bool
	if err := tx.QueryRowContext(ctx, databaseKeptSQL, key).Scan(&done, &out.Encoding, &out.Data); err != nil {
		return out, fmt.Errorf("read the step from reprise_steps: %w", err)
	}
	if !done {
		return journal.Payload{}, &driver.TxEndedError{}
	}
	return out, nil
}
