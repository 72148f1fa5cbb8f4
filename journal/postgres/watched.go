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
		return unsentBatch(err).Query()
	}
	rows, err := t.Tx.Query(ctx, sql, args...)
	return &watchedRows{rows, &t.step.body, sql}, t.step.body.note(sql, err)
}

// QueryRow implements pgx.Tx.
func (t watchedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.step.body.open(); err != nil {
		return unsentBatch(err).QueryRow()
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
		return pgx.FailedBatchResults(b, err)
	}
	sql := "a batch"
	if len(b.QueuedQueries) > 0 {
		sql = "a batch that begins with " + b.QueuedQueries[0].SQL
	}
	return &watchedBatch{t.Tx.SendBatch(ctx, b), &t.step.body, sql, b.QueuedQueries}
}

// unsentBatch makes what a statement that is not sent returns. Callers may leave the error of Query
// to its rows, so there must be some.
func unsentBatch(err error) pgx.BatchResults { return pgx.FailedBatchResults(new(pgx.Batch), err) }

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
		r.over()
	}
	return more
}

// Close implements pgx.Rows.
func (r *watchedRows) Close() {
	r.Rows.Close()
	r.over()
}

// over looks at how the query has ended. The next statement is refused if the query has ended the
// transaction.
func (r *watchedRows) over() {
	if r.Err() == nil {
		_ = r.body.executed(r.sql, r.CommandTag())
	}
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
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		_ = r.body.executed(r.sql, pgconn.CommandTag{}) // the next statement is told
		return err
	}
	return r.body.note(r.sql, err)
}

// watchedBatch notes the first error of a batch, and whether one of its statements has ended the
// transaction.
type watchedBatch struct {
	pgx.BatchResults
	body   *body
	sql    string
	queued []*pgx.QueuedQuery
}

// Exec implements pgx.BatchResults.
func (r *watchedBatch) Exec() (pgconn.CommandTag, error) {
	tag, err := r.BatchResults.Exec()
	if err == nil {
		_ = r.body.executed("", tag) // Close tells
	}
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
func (r *watchedBatch) Close() error {
	if err := r.BatchResults.Close(); err != nil {
		return r.body.note(r.sql, err)
	}
	for _, q := range r.queued {
		if err := r.body.executed(q.SQL, pgconn.CommandTag{}); err != nil {
			return err
		}
	}
	return nil
}
