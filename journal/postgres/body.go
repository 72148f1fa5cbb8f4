package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// body is what is known of a step's transaction while user code has it. Two things go wrong there
// that nobody would understand later.
//
// A statement fails, and the body goes on without its error: the server refuses everything that
// follows, and the commit. So the statement that has failed the transaction is kept, for the error.
//
// The body ends the transaction by SQL, which the type of its transaction cannot keep it from. What
// it has written is committed then without the step's event, and each further attempt would write
// it again. It shows in three ways: no transaction is open, which the driver knows; another one is,
// which has not the mark of the first; or a statement has begun a further one like the first (AND
// CHAIN), which its text or its tag tells. The mark is that the transaction is deferrable. That
// means nothing to one that writes, and unlike other settings it is not undone by RESET ALL; a
// savepoint, or anything that is selected, would keep the body from choosing its isolation. What is
// not found is a chain that goes past the transaction, by Conn.
//
// conn is the connection, which is the transaction's until over is set; a goroutine of the body
// that goes on later must not look at it.
type body struct {
	conn    *pgx.Conn
	over    atomic.Bool
	chained atomic.Bool // a statement has ended the transaction and begun another one

	mu     sync.Mutex
	failed *failedStatement // that has failed the transaction, or the savepoint that was open then
}

type failedStatement struct {
	sql string
	err error
}

func (f *failedStatement) String() string { return fmt.Sprintf("%q: %v", f.sql, f.err) }

// markSQL reads the mark of the transaction that stepTxSQL began.
const markSQL = `SELECT pg_catalog.current_setting('transaction_deferrable')`

// checkMark reads the answer of markSQL.
func checkMark(rows pgx.Rows) error {
	return each(func(row pgx.CollectableRow) error {
		var mark string
		if err := row.Scan(&mark); err != nil || mark == "on" {
			return err
		}
		return &driver.TxEndedError{}
	})(rows)
}

func isEnded(err error) bool {
	_, ended := errors.AsType[*driver.TxEndedError](err)
	return ended
}

// Check implements driver.CheckedTx. A transaction that has failed cannot be asked: if the body has
// begun it after a COMMIT in the same text, that remains unknown.
func (t *stepTx) Check(ctx context.Context) error {
	c := t.body.conn
	if t.body.over.Load() || c.IsClosed() {
		return nil
	}
	if err := t.body.open(); err != nil || c.PgConn().TxStatus() != 'T' {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, rollbackTimeout)
	defer cancel()
	rows, err := c.Query(ctx, markSQL)
	if err != nil {
		return nil
	}
	defer rows.Close()
	if err = checkMark(rows); isEnded(err) {
		return err
	}
	return nil // it could not be asked, and is rolled back
}

// lost tells why the transaction cannot be committed, nil if it may be.
func (b *body) lost() error {
	if b.conn.IsClosed() {
		return journal.ErrTxLost
	}
	if b.conn.PgConn().IsBusy() {
		return fmt.Errorf("%w: the body of the step has returned while a query of it was open; close its rows, and end what uses the "+
			"transaction in goroutines, before", journal.ErrTxLost)
	}
	if err := b.ended(); err != nil {
		return err
	}
	if b.conn.PgConn().TxStatus() == 'E' {
		b.mu.Lock()
		defer b.mu.Unlock()
		what := "it was sent past the transaction that the body was given"
		if b.failed != nil {
			what = b.failed.String()
		}
		return fmt.Errorf("%w: a statement of the step failed and its body went on without the error; return it, "+
			"or run what may fail in a savepoint (tx.Begin): %s", journal.ErrTxLost, what)
	}
	return nil
}

// open refuses statements after the end of the transaction: each would be a transaction of its own.
func (b *body) open() error {
	if b.over.Load() || b.conn.IsClosed() {
		return nil
	}
	return b.ended()
}

func (b *body) ended() error {
	if b.chained.Load() || b.conn.PgConn().TxStatus() == 'I' {
		return &driver.TxEndedError{}
	}
	return nil
}

// executed looks at a statement that has succeeded. A tag says ROLLBACK also of one to a savepoint.
func (b *body) executed(sql string, tag pgconn.CommandTag) error {
	if tag.String() == "COMMIT" || chains(sql) {
		b.chained.Store(true)
	}
	return b.open()
}

// chainEnd finds statements that end a transaction and begin one like it. It has to match a whole
// statement: a savepoint, a column or an alias may be called chain.
var chainEnd = regexp.MustCompile(`(?i)(^|;)\s*(commit|end|rollback|abort)(\s+(work|transaction))?\s+and\s+chain\s*(;|$)`)

func chains(sql string) bool {
	return strings.Contains(strings.ToUpper(sql), "CHAIN") && chainEnd.MatchString(sql)
}

// note notes how a statement has ended, and returns the error for the body. The server says of all
// statements after the one that failed only that they come too late.
func (b *body) note(sql string, err error) error {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || b.over.Load() || b.conn.PgConn().TxStatus() != 'E' {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case pe.Code != "25P02":
		b.failed = &failedStatement{short(sql), err}
	case b.failed != nil:
		return fmt.Errorf("%w, because of an earlier statement of the step: %v", err, b.failed)
	}
	return err
}

// shownMax is how much of a statement an error shows.
const shownMax = 200

func short(sql string) string {
	sql = strings.Join(strings.Fields(sql), " ")
	if len(sql) <= shownMax {
		return sql
	}
	return strings.ToValidUTF8(sql[:shownMax], "") + "…"
}
