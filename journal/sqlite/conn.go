package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// conn is a connection of the driver, below database/sql: its statements are prepared once, and a
// statement costs neither a pool nor a goroutine. One goroutine at a time uses it: the writer, a
// step that has it on loan, or a call that has it from the readers.
//
// The context of a call is not passed to the driver, because a statement that is interrupted in the
// middle of a batch would take the other members with it. Statements are short; only steps' are
// interrupted, by the guard.
type conn struct {
	raw   rawConn
	stmts map[string]stmt
	args  []driver.NamedValue // of the statement that runs
}

// rawConn and stmt are what the driver's types implement.
type rawConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// stmt is a prepared statement of the driver's.
type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// querier is what the statements of starts and messages need: a connection, or a transaction of the
// caller's.
type querier interface {
	// exec runs a statement and returns how many rows it changed.
	exec(sql string, args ...any) (int64, error)
	// query calls each for every row. The row is valid during the call, the bytes in it for ever.
	query(sql string, each func(r row) error, args ...any) error
}

// dial opens a connection. The pragmas are executed in order; access is "rw" or "rwc". Without
// _error_rc the driver may say "out of memory" of a file that cannot be opened.
func dial(path, access string, pragmas ...string) (*conn, error) {
	q := url.Values{"mode": {access}, "_error_rc": {"true"}}
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	opened, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	raw, ok := opened.(rawConn)
	if !ok {
		return nil, fmt.Errorf("the driver's connections are of an unexpected type, %T", opened)
	}
	c := &conn{raw: raw, stmts: map[string]stmt{}}
	for _, p := range pragmas {
		if err := c.script("PRAGMA " + p); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// close closes the statements and the connection, which rolls back what is open.
func (c *conn) close() {
	for _, s := range c.stmts {
		_ = s.Close() // a prepared statement that is not running holds nothing but memory
	}
	_ = c.raw.Close()
}

// script runs statements without arguments that are not worth keeping.
func (c *conn) script(sql string) error {
	_, err := c.raw.ExecContext(context.Background(), sql, nil)
	return err
}

// prepare returns the prepared statement of a text. The texts are constants of this package, so the
// number of statements is bounded and none is ever dropped.
func (c *conn) prepare(sql string) (stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	prepared, err := c.raw.PrepareContext(context.Background(), sql)
	if err != nil {
		return nil, unpreparedError{err}
	}
	s, ok := prepared.(stmt)
	if !ok {
		return nil, fmt.Errorf("the driver's statements are of an unexpected type, %T", prepared)
	}
	c.stmts[sql] = s
	return s, nil
}

// explain tells errors of a statement that does not fit the tables any more from others with the
// same result code. SQLite prepares a statement again when the tables have changed, in the middle
// of executing it, and says no more than that this has failed: so the question is whether the text
// can be prepared now.
func (c *conn) explain(sql string, err error) error {
	if codeOf(err)&0xff != lib.SQLITE_ERROR {
		return err
	}
	s, unprepared := c.raw.PrepareContext(context.Background(), sql)
	if unprepared != nil {
		return unpreparedError{unprepared}
	}
	_ = s.Close()
	return err
}

// bind fills the arguments of the statement that runs. The memory is used again by the next.
func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec implements querier.
func (c *conn) exec(sql string, args ...any) (int64, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, c.explain(sql, err)
	}
	return res.RowsAffected()
}

// query implements querier. The rows are closed before it returns, whatever each returns: an open
// statement would keep the snapshot of a read, and stand in the way of the end of a write. The
// slice of a row is used again for the next one.
func (c *conn) query(sql string, each func(r row) error, args ...any) (err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return c.explain(sql, err)
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	r := make(row, len(rows.Columns()))
	for {
		switch err := rows.Next(r); {
		case err == io.EOF:
			return nil
		case err != nil:
			return c.explain(sql, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
}

// queryInt reads one number; 0 if there is no row.
func (c *conn) queryInt(sql string, args ...any) (n int64, err error) {
	err = c.query(sql, func(r row) error { n = r.int(0); return nil }, args...)
	return n, err
}
