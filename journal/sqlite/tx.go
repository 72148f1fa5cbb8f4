package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// InTx lets starts and messages be part of a transaction of the caller's: they exist exactly if and
// when it commits. The caller commits or rolls back. It is the transaction of a step, or one on a
// connection of the caller's own to the store's file; that one should begin as IMMEDIATE and be
// short, because meanwhile the store cannot write.
func InTx(tx *sql.Tx) journal.Tx { return callerTx{tx} }

// callerTx is a transaction of the caller's. The store executes statements in it and leaves its end
// alone.
type callerTx struct{ tx *sql.Tx }

// Value implements journal.Tx.
func (t callerTx) Value() any { return t.tx }

// Rollback implements journal.Tx.
func (t callerTx) Rollback(context.Context) error { return t.tx.Rollback() }

// stepTx is the transaction of a step. User code has it as a *sql.Tx, whose connection is this one:
// it takes the writer's connection on loan at the first statement. Only the engine ends it.
//
// Three may want to use it at once: the step, which may have goroutines of its own; the engine,
// which commits or rolls back; and the timer or the store's end, which take the connection away
// from a step that holds it for too long. mu decides: whoever uses the loan holds it, and after
// ended is set nobody uses the loan for the user any more. A statement that runs while the time is
// up is interrupted by life, so that mu is soon free.
//
// The loan is given back exactly once, by returnLoan, on every path: else nobody in the process
// could write again.
type stepTx struct {
	s    *Store
	db   *sql.DB
	user *sql.Tx
	end  sync.Once

	mu     sync.Mutex                      // held by whoever uses the loan; guards what follows
	before func(ctx context.Context) error // is asked before the loan is taken; nil for nobody
	loan   *loan                           // nil before the first statement
	ended  error                           // why there can be no further statement; nil while it goes on
	fault  error                           // of the file, met by a statement: it may have ended the transaction; nil for none
	timer  *time.Timer
	life   context.Context // until over: ends statements that run too long
	stop   context.CancelCauseFunc
	unhook func() bool                             // unhooks it from the store's end
	open   map[interface{ Close() error }]struct{} // the user's rows and statements
}

// The transaction of a step is inside a savepoint: if that is gone in the end, then something has
// ended the transaction that was not the engine, be it a COMMIT of the user's or a full disk.
const (
	stepBeginSQL = `SAVEPOINT reprise_step`
	stepEndSQL   = `RELEASE reprise_step`
)

// Begin implements driver.TxStore. It takes nothing yet: a step that never uses its transaction
// holds nobody up.
func (s *Store) Begin(ctx context.Context) (journal.Tx, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.life.Err() != nil {
		return nil, journal.ErrStoreClosed
	}
	if err := s.o.refuseWrite(s.path); err != nil {
		return nil, err
	}
	t := &stepTx{s: s, open: map[interface{ Close() error }]struct{}{}}
	t.life, t.stop = context.WithCancelCause(s.life)
	t.db = sql.OpenDB(stepConnector{t})
	user, err := t.db.BeginTx(context.Background(), nil) // database/sql would end it with ctx
	if err != nil {
		t.stop(errTxDone)
		return nil, err
	}
	t.user = user
	t.unhook = context.AfterFunc(s.life, func() { t.expire(journal.ErrStoreClosed) })
	return t, nil
}

// BeforeUse implements driver.ExclusiveTx.
func (t *stepTx) BeforeUse(ask func(ctx context.Context) error) { t.before = ask }

// Value implements journal.Tx.
func (t *stepTx) Value() any { return t.user }

// Rollback implements journal.Tx. It works although ctx has ended, so that no lock outlives the
// step.
func (t *stepTx) Rollback(context.Context) error {
	t.end.Do(func() {
		t.mu.Lock()
		t.finish(errTxDone)
		t.returnLoan()
		t.mu.Unlock()
		t.dispose()
	})
	return nil
}

// expire rolls back a transaction that everybody waits for. The step learns of it by its next
// statement, or by its commit.
func (t *stepTx) expire(why error) {
	t.stop(why) // interrupts the statement that runs
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.finish(why)
		t.returnLoan()
	}
}

// finish ends the user's part: no further statements. Open rows and statements are closed, because
// they would keep the transaction's snapshot. t.mu is held.
func (t *stepTx) finish(why error) {
	if t.ended != nil {
		return
	}
	t.ended = why
	t.stop(why)
	t.unhook()
	if t.timer != nil {
		t.timer.Stop()
	}
	for c := range t.open { // they would keep the transaction's snapshot
		_ = c.Close()
	}
	clear(t.open)
}

// returnLoan rolls back what is not committed and returns the loan. After a COMMIT there is nothing
// to roll back, and the error of that is ignored. t.mu is held.
func (t *stepTx) returnLoan() {
	if t.loan == nil {
		return
	}
	t.s.writer.rollback()
	close(t.loan.returned)
	t.loan = nil
}

// dispose frees what database/sql holds. t.mu must be free, because database/sql closes the user's
// rows and statements on the way, and each of these takes it.
func (t *stepTx) dispose() {
	_ = t.user.Rollback() // of the guarded connection: has no effect
	_ = t.db.Close()
}

// takeLoan takes the loan, if it has not been taken, and begins the transaction. The time that the
// transaction may last counts from here, as nobody waits for it before. t.mu is held.
func (t *stepTx) takeLoan(ctx context.Context) error {
	if t.ended != nil || t.loan != nil {
		return t.ended
	}
	if t.before != nil {
		if err := t.before(ctx); err != nil {
			return err
		}
	}
	l, err := t.s.writer.borrow(ctx, t.life)
	if err != nil {
		return err
	}
	if err = inPlace(t.s.path, t.s.file); err == nil {
		_, err = t.s.writer.c.exec(writeBeginSQL)
	}
	if err == nil {
		_, err = t.s.writer.c.exec(stepBeginSQL)
	}
	t.loan = l
	if err != nil {
		t.returnLoan()
		return t.s.translate(err)
	}
	held := fmt.Errorf("the step's transaction held %s for longer than %s", t.s.path, t.s.o.TxMax)
	t.timer = time.AfterFunc(t.s.o.TxMax, func() { t.expire(held) })
	return nil
}

// borrow waits for the connection, until ctx or the transaction's life ends. A wish that is granted
// at the moment at which it is withdrawn is given back at once: the writer waits for that.
func (w *writer) borrow(ctx, life context.Context) (*loan, error) {
	l := &loan{granted: make(chan struct{}), returned: make(chan struct{})}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, journal.ErrStoreClosed
	}
	w.loans = append(w.loans, l)
	w.mu.Unlock()
	w.wakeUp()
	var err error
	select {
	case <-l.granted:
		return l, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-life.Done():
		err = context.Cause(life)
	}
	if !w.withdraw(l) { // it was granted at this moment
		<-l.granted
		close(l.returned)
	}
	return nil, err
}

// use runs fn on the loan, with a context that also ends when the transaction's time is up. It is
// the only way for the user's statements to the connection.
func (t *stepTx) use(ctx context.Context, fn func(ctx context.Context, raw rawConn) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.life, func() { cancel(context.Cause(t.life)) })()
	if err := t.takeLoan(ctx); err != nil {
		return err
	}
	return t.note(fn(ctx, t.s.writer.c.raw))
}

// note notes an error after which nothing of the transaction may be left. t.mu is held.
func (t *stepTx) note(err error) error {
	if batchFault(err) {
		t.fault = err
	}
	return err
}

// Check implements driver.CheckedTx.
func (t *stepTx) Check(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil || t.loan == nil {
		return nil
	}
	if err := t.endStep(); err == error(endedByBody) {
		return err
	}
	return nil
}

// endedByBody is why there is no savepoint of the step in the end, if no fault of the file is.
var endedByBody = &driver.TxEndedError{}

// endStep ends the savepoint of the step. t.mu is held, and the loan is there.
func (t *stepTx) endStep() error {
	_, err := t.s.writer.c.exec(stepEndSQL)
	switch {
	case err == nil:
		return nil
	case t.fault != nil:
		return t.fault
	case memberFault(err): // there is no such savepoint
		return endedByBody
	}
	return err
}

// in runs fn inside tx, or as a write of its own if tx is nil. Inside the transaction of a step the
// statements go through database/sql like the step's own, and so wait for them.
func (s *Store) in(ctx context.Context, tx journal.Tx, bytes int, fn func(q querier) error) error {
	if tx == nil {
		return s.write(ctx, bytes, func(b *batch) error { return fn(b) })
	}
	if err := s.o.refuseWrite(s.path); err != nil {
		return err
	}
	var user *sql.Tx
	switch t := tx.(type) {
	case callerTx:
		user = t.tx
	case *stepTx:
		user = t.user
	default:
		return fmt.Errorf("transaction of type %T: %w: this store needs one of its own or of InTx", tx, journal.ErrInvalid)
	}
	return s.translate(fn(sqlTx{ctx, user}))
}

// sqlTx is a querier on a transaction of database/sql: the caller's own, or that of a step. Its
// statements are not prepared, because the connection is not the store's; they are few in a
// transaction.
type sqlTx struct {
	ctx context.Context // of the one call
	tx  *sql.Tx
}

func (q sqlTx) exec(text string, args ...any) (int64, error) {
	res, err := q.tx.ExecContext(q.ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (q sqlTx) query(text string, each func(r row) error, args ...any) (err error) {
	rows, err := q.tx.QueryContext(q.ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		r, targets := make(row, len(columns)), make([]any, len(columns))
		for i := range targets {
			targets[i] = (*any)(&r[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}
