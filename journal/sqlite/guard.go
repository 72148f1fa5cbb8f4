package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
)

// The types of this file are the driver behind the *sql.Tx of a step. They pass statements on to
// the loan, while there is one, and do not let the user end the transaction.

// stepConnector makes the one connection of a step's *sql.DB.
type stepConnector struct{ t *stepTx }

// Connect implements driver.Connector.
func (c stepConnector) Connect(context.Context) (driver.Conn, error) { return stepConn(c), nil }

// Driver implements driver.Connector.
func (c stepConnector) Driver() driver.Driver { return stepDriver{} }

// stepDriver is what database/sql asks a connector for.
type stepDriver struct{}

// Open implements driver.Driver. Nobody calls it.
func (stepDriver) Open(string) (driver.Conn, error) { return nil, errors.ErrUnsupported }

// stepConn is the connection: its statements are executed on the loan.
type stepConn struct{ t *stepTx }

// Begin implements driver.Conn. The transaction begins with its first statement.
func (c stepConn) Begin() (driver.Tx, error) { return stepEnd{}, nil }

// stepEnd refuses to end a transaction. database/sql takes it for ended nevertheless, so that the
// user can do nothing more in it.
type stepEnd struct{}

// Commit implements driver.Tx.
func (stepEnd) Commit() error { return errUserEnd }

// Rollback implements driver.Tx.
func (stepEnd) Rollback() error { return errUserEnd }

// Close implements driver.Conn.
func (c stepConn) Close() error { return nil }

// ExecContext implements driver.ExecerContext.
func (c stepConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (res driver.Result, err error) {
	err = c.t.use(ctx, func(ctx context.Context, raw rawConn) error {
		res, err = raw.ExecContext(ctx, query, args)
		return err
	})
	return res, err
}

// QueryContext implements driver.QueryerContext.
func (c stepConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.t.use(ctx, func(ctx context.Context, raw rawConn) error {
		got, err := raw.QueryContext(ctx, query, args) // ends the first row's search, the driver goes on without it
		rows = c.t.keepRows(got)
		return err
	})
	return rows, err
}

// Prepare implements driver.Conn.
func (c stepConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c stepConn) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	err = c.t.use(ctx, func(ctx context.Context, raw rawConn) error {
		got, err := raw.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		c.t.open[got] = struct{}{}
		s = &stepStmt{t: c.t, raw: got}
		return nil
	})
	return s, err
}

// keepRows remembers rows that are to be closed with the transaction. t.mu is held.
func (t *stepTx) keepRows(raw driver.Rows) driver.Rows {
	if raw == nil {
		return nil
	}
	t.open[raw] = struct{}{}
	return &stepRows{t: t, raw: raw}
}

// closeOne closes rows or a statement, unless the transaction's end has done so.
func (t *stepTx) closeOne(c interface{ Close() error }) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.open[c]; !ok {
		return nil
	}
	delete(t.open, c)
	return c.Close()
}

// stepStmt is a prepared statement of the user's. It is closed with the transaction, whether the
// user closes it or not: an open statement would keep the snapshot, and the next transaction could
// not begin.
type stepStmt struct {
	t   *stepTx
	raw driver.Stmt
}

// Close implements driver.Stmt.
func (s *stepStmt) Close() error { return s.t.closeOne(s.raw) }

// NumInput implements driver.Stmt.
func (s *stepStmt) NumInput() int { return s.raw.NumInput() }

// Exec implements driver.Stmt.
func (s *stepStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

// Query implements driver.Stmt.
func (s *stepStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errors.ErrUnsupported }

// ExecContext implements driver.StmtExecContext.
func (s *stepStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (res driver.Result, err error) {
	err = s.t.use(ctx, func(ctx context.Context, _ rawConn) error {
		res, err = s.raw.(stmt).ExecContext(ctx, args)
		return err
	})
	return res, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *stepStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = s.t.use(ctx, func(ctx context.Context, _ rawConn) error {
		got, err := s.raw.(stmt).QueryContext(ctx, args)
		rows = s.t.keepRows(got)
		return err
	})
	return rows, err
}

// stepRows are rows that the user reads. They are closed with the transaction too.
type stepRows struct {
	t   *stepTx
	raw driver.Rows
}

// Columns implements driver.Rows.
func (r *stepRows) Columns() []string { return r.raw.Columns() }

// Close implements driver.Rows.
func (r *stepRows) Close() error { return r.t.closeOne(r.raw) }

// Next implements driver.Rows.
func (r *stepRows) Next(dest []driver.Value) error {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.t.ended != nil {
		return r.t.ended
	}
	return r.raw.Next(dest)
}
