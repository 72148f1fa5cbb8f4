package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// exchange is a pipeline whose parameters and answers are in the binary form of the protocol: the
// driver neither encodes nor decodes anything. It is for the hot path, see columns. Like a pipeline
// it is one transaction unless the connection is in one already, and each statement has a snapshot
// of its own.
//
// Statements are prepared once for each connection, under their own text as the name. They are sent
// with their text every time if the connection is in another mode: behind a pooler, where nothing
// may outlive a transaction, or because it is a caller's that wants so.
type exchange struct {
	q     querier
	conn  *pgx.Conn // of q
	batch pgconn.Batch
	rows  []func(values [][]byte) error
}

func newExchange(q querier) *exchange { return &exchange{q: q, conn: connOf(q)} }

// binaryForm says for each column, or for all if it stands alone, that it is in binary form.
var binaryForm = []int16{pgx.BinaryFormatCode}

// add adds a statement. row is called by send with the values of each row of the answer, which are
// valid during the call. params must stay as they are until then.
func (x *exchange) add(ctx context.Context, sql string, params [][]byte, formats []int16, row func(values [][]byte) error) error {
	if x.conn.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		x.batch.ExecParams(sql, params, nil, formats, binaryForm)
	} else {
		statement, err := x.q.Prepare(ctx, sql, sql) // once a connection; refused if q is a transaction that has ended
		if err != nil {
			return err
		}
		x.batch.ExecPrepared(statement.Name, params, formats, binaryForm)
	}
	x.rows = append(x.rows, row)
	return nil
}

// send sends everything in one round trip and reads all answers. It returns the first error, of the
// server or of a row function; after an error of the server nothing of the exchange is written.
func (x *exchange) send(ctx context.Context) error {
	results := x.conn.PgConn().ExecBatch(ctx, &x.batch)
	var err error
	for i := 0; results.NextResult(); i++ {
		rows := results.ResultReader()
		for rows.NextRow() && err == nil && x.rows[i] != nil {
			err = x.rows[i](rows.Values())
		}
		_, closed := rows.Close()
		err = errors.Join(err, closed)
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	return err
}
