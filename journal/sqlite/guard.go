package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
)

// The types of this file are the driver behind the *sql.Tx of a step. They pass statements on to
// the loan, while there is one, and do not let the user end the transaction.

// stepConnector makes the one connection of a step's *sql.DB.
type stepConnector struct{ t *stepTx }

// Connect implements sqldriver.Connector.
func (c stepConnector) Connect(context.Context) (sqldriver.Conn, error) { return stepConn(c), nil }

// Driver implements sqldriver.Connector.
func (c stepConnector) Driver() sqldriver.Driver { return stepDriver{} }

// stepDriver is what database/sql asks a connector for.
type stepDriver struct{}

// Open implements sqldriver.Driver. Nobody calls it.
func (stepDriver) Open(string) (sqldriver.Conn, error) { return nil, errors.ErrUnsupported }

// stepConn is the connection: its statements are executed on the loan.
type stepConn struct{ t *stepTx }

// Begin implements sqldriver.Conn. The transaction begins with its first statement.
func (c stepConn) Begin() (sqldriver.Tx, error) { return stepEnd{}, nil }

// stepEnd refuses to end a transaction. database/sql takes it for ended nevertheless, so that the
// user can do nothing more in it, and the engine's commit finds it as it was.
type stepEnd struct{}

// Commit implements sqldriver.Tx.
func (stepEnd) Commit() error { return errUserEnd }

// Rollback implements sqldriver.Tx.
func (stepEnd) Rollback() error { return errUserEnd }

// Close implements sqldriver.Conn.
func (c stepConn) Close() error { return nil }

// ExecContext implements sqldriver.ExecerContext.
func (c stepConn) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (res sqldriver.Result, err error) {
	err = c.t.use(ctx, func(ctx context.Context, raw rawConn) error {
		res, err = raw.ExecContext(ctx, query, args)
		return err
	})
	return res, err
}

// QueryContext implements sqldriver.QueryerContext.
func (c stepConn) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (rows sqldriver.Rows, err error) {
	err = c.t.use(ctx, func(ctx context.Context, raw rawConn) error {
		got, err := raw.QueryContext(ctx, query, args) // ends the first row's search, the driver goes on without it
		rows = c.t.keepRows(got)
		return err
	})
	return rows, err
}

// Prepare implements sqldriver.Conn.
func (c stepConn) Prepare(query string) (sqldriver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements sqldriver.ConnPrepareContext.
func (c stepConn) PrepareContext(ctx context.Context, query string) (s sqldriver.Stmt, err error) {
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
func (t *stepTx) keepRows(raw sqldriver.Rows) sqldriver.Rows {
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
	raw sqldriver.Stmt
}

// Close implements sqldriver.Stmt.
func (s *stepStmt) Close() error { return s.t.closeOne(s.raw) }

// NumInput implements sqldriver.Stmt.
func (s *stepStmt) NumInput() int { return s.raw.NumInput() }

// Exec implements sqldriver.Stmt.
func (s *stepStmt) Exec([]sqldriver.Value) (sqldriver.Result, error) {
	return nil, errors.ErrUnsupported
}

// Query implements sqldriver.Stmt.
func (s *stepStmt) Query([]sqldriver.Value) (sqldriver.Rows, error) {
	return nil, errors.ErrUnsupported
}

// ExecContext implements sqldriver.StmtExecContext.
func (s *stepStmt) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (res sqldriver.Result, err error) {
	err = s.t.use(ctx, func(ctx context.Context, _ rawConn) error {
		res, err = s.raw.(stmt).ExecContext(ctx, args)
		return err
	})
	return res, err
}

// QueryContext implements sqldriver.StmtQueryContext.
func (s *stepStmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (rows sqldriver.Rows, err error) {
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
	raw sqldriver.Rows
}

// Columns implements sqldriver.Rows.
func (r *stepRows) Columns() []string { return r.raw.Columns() }

// Close implements sqldriver.Rows.
func (r *stepRows) Close() error { return r.t.closeOne(r.raw) }

// Next implements sqldriver.Rows.
func (r *stepRows) Next(dest []sqldriver.Value) error {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.t.ended != nil {
		return r.t.ended
	}
	return r.t.note(r.raw.Next(dest))
}
