package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal/driver"
)

// watchedTx is a transaction whose statements are noted, see body. What goes past it, by Conn, is
// not; the end of the transaction is found all the same.
type watchedTx struct {
	pgx.Tx
	step *stepTx
}

func (t watchedTx) outbox() *driver.Outbox { return &t.step.box }

// Exec implements pgx.Tx.
func (t watchedTx) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	if err := t.step.body.open(); err != nil {
		return tag, err
	}
	tag, err = t.Tx.Exec(ctx, sql, args...)
	if err == nil {
		return tag, t.step.body.executed(sql, tag)
	}
	return tag, t.step.body.note(sql, err)
}

// Query implements pgx.Tx.
func (t watchedTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.step.body.open(); err != nil {
		return nil, err
	}
	rows, err := t.Tx.Query(ctx, sql, args...)
	return &watchedRows{rows, &t.step.body, sql}, t.step.body.note(sql, err)
}

// QueryRow implements pgx.Tx.
func (t watchedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.step.body.open(); err != nil {
		return failedRow{err}
	}
	return watchedRow{t.Tx.QueryRow(ctx, sql, args...), &t.step.body, sql}
}

// Prepare implements pgx.Tx.
func (t watchedTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := t.step.body.open(); err != nil {
		return nil, err
	}
	described, err := t.Tx.Prepare(ctx, name, sql)
	return described, t.step.body.note(sql, err)
}

// CopyFrom implements pgx.Tx.
func (t watchedTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, from pgx.CopyFromSource) (int64, error) {
	if err := t.step.body.open(); err != nil {
		return 0, err
	}
	n, err := t.Tx.CopyFrom(ctx, table, columns, from)
	return n, t.step.body.note("COPY "+table.Sanitize(), err)
}

// SendBatch implements pgx.Tx.
func (t watchedTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.step.body.open(); err != nil {
		return failedBatch{err}
	}
	sql := "a batch"
	if len(b.QueuedQueries) > 0 {
		sql = "a batch that begins with " + b.QueuedQueries[0].SQL
	}
	return &watchedBatch{t.Tx.SendBatch(ctx, b), &t.step.body, sql}
}

// watchedRows note the error of their query, also if the body only closes them.
type watchedRows struct {
	pgx.Rows
	body *body
	sql  string
}

// Next implements pgx.Rows.
func (r *watchedRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		_ = r.Err()
	}
	return more
}

// Close implements pgx.Rows.
func (r *watchedRows) Close() {
	r.Rows.Close()
	_ = r.Err()
}

// Err implements pgx.Rows.
func (r *watchedRows) Err() error { return r.body.note(r.sql, r.Rows.Err()) }

// watchedRow notes the error of its query.
type watchedRow struct {
	pgx.Row
	body *body
	sql  string
}

// Scan implements pgx.Row.
func (r watchedRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return r.body.note(r.sql, err)
}

// failedRow is the row of a query that was not sent.
type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }

// failedBatch is a batch that was not sent.
type failedBatch struct{ err error }

// Exec implements pgx.BatchResults.
func (r failedBatch) Exec() (tag pgconn.CommandTag, err error) { return tag, r.err }

// Query implements pgx.BatchResults.
func (r failedBatch) Query() (pgx.Rows, error) { return nil, r.err }

// QueryRow implements pgx.BatchResults.
func (r failedBatch) QueryRow() pgx.Row { return failedRow(r) }

// Tx implements pgx.BatchResults.
func (r failedBatch) Tx() pgx.Tx { return nil }

// Close implements pgx.BatchResults.
func (r failedBatch) Close() error { return r.err }

// watchedBatch notes the first error of a batch.
type watchedBatch struct {
	pgx.BatchResults
	body *body
	sql  string
}

// Exec implements pgx.BatchResults.
func (r *watchedBatch) Exec() (pgconn.CommandTag, error) {
	tag, err := r.BatchResults.Exec()
	return tag, r.body.note(r.sql, err)
}

// Query implements pgx.BatchResults.
func (r *watchedBatch) Query() (pgx.Rows, error) {
	rows, err := r.BatchResults.Query()
	return &watchedRows{rows, r.body, r.sql}, r.body.note(r.sql, err)
}

// QueryRow implements pgx.BatchResults.
func (r *watchedBatch) QueryRow() pgx.Row {
	return watchedRow{r.BatchResults.QueryRow(), r.body, r.sql}
}

// Close implements pgx.BatchResults.
func (r *watchedBatch) Close() error { return r.body.note(r.sql, r.BatchResults.Close()) }
