package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A transaction of several round trips begins with its first statement's and ends with its last
// one's, so it costs no round trips of its own.
const (
	beginSQL    = `BEGIN ISOLATION LEVEL READ COMMITTED`
	endSQL      = `COMMIT`
	rollbackSQL = `ROLLBACK`
)

// querier is what statements need: a connection or a transaction. Both are used by one goroutine at
// a time.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error)
}

// pipeline sends statements in one round trip. Outside of an explicit transaction the server runs
// them as one transaction of their own, each with a snapshot of its own: a statement sees what
// those before it wrote, and what others committed before it began. A statement that takes locks
// can therefore be followed by one that relies on them.
//
// The first error ends the pipeline, and the statements after it are not executed. It must be sent,
// and its answers read, before the next use of the connection.
type pipeline struct {
	batch pgx.Batch
}

// query adds a statement and the function that reads its rows. read is called by send, in the order
// of the statements, and must read all rows.
func (p *pipeline) query(sql string, read func(rows pgx.Rows) error, args ...any) {
	p.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		if err := read(rows); err != nil {
			return err
		}
		return rows.Err()
	})
}

// exec adds a statement without rows.
func (p *pipeline) exec(sql string, args ...any) { p.batch.Queue(sql, args...) }

// send sends everything and reads all answers. It returns the first error, of the server or of a
// read function.
func (p *pipeline) send(ctx context.Context, q querier) error {
	return q.SendBatch(ctx, &p.batch).Close()
}

// each reads every row with scan.
func each(scan func(row pgx.CollectableRow) error) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// inChunks calls fn for pieces whose sizes sum up to about batchBytesMax, in order. A piece may
// exceed the limit by its last member, and a member that is larger than the limit is a piece of its
// own: payloads have limits far below a protocol message's, so what fits is never refused.
func inChunks(n int, size func(i int) int, fn func(from, to int) error) error {
	from, sum := 0, 0
	for i := range n {
		sum += size(i)
		if sum >= batchBytesMax || i == n-1 {
			if err := fn(from, i+1); err != nil {
				return err
			}
			from, sum = i+1, 0
		}
	}
	return nil
}

// connOf returns the connection that q uses.
func connOf(q querier) *pgx.Conn {
	if tx, ok := q.(pgx.Tx); ok {
		return tx.Conn()
	}
	return q.(*pgx.Conn)
}

// hangUp closes a connection, whose other end may not answer.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), hangUpTimeout)
	defer cancel()
	_ = c.Close(ctx)
}
