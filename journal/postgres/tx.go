package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// InTx lets starts and messages be part of a transaction of the caller's: they exist exactly if and
// when it commits. The caller commits or rolls back; a failed call has failed the transaction. Each
// call costs a round trip more than outside of a transaction: the store asks for the transaction's
// number, and every 20 ms whether it has committed, to tell nodes of it then.
//
// In the transaction of a step they are written when the step commits, so the step may send to its
// own run, and keeps nobody waiting. Those that were made in a savepoint, of Begin, are gone if
// that is rolled back; a savepoint of the step's own SQL does not concern them. tx must be what the
// body was given, or a savepoint of it: a type of the program's around it is refused.
func InTx(tx pgx.Tx) journal.Tx {
	if b, ok := tx.(bodyTx); ok {
		return outboxTx{callerTx{tx}, b.outbox()}
	}
	return callerTx{tx}
}

// outboxTx is a step's transaction in which starts and messages wait for the commit.
type outboxTx struct {
	callerTx
	box *driver.Outbox
}

// Outbox implements driver.OutboxTx.
func (t outboxTx) Outbox() *driver.Outbox { return t.box }

// callerTx is a transaction of the caller's. The store sends statements in it and leaves its end
// alone.
type callerTx struct{ tx pgx.Tx }

// Value implements journal.Tx.
func (t callerTx) Value() any { return t.tx }

// Rollback implements journal.Tx.
func (t callerTx) Rollback(ctx context.Context) error { return t.tx.Rollback(ctx) }

// stepTx is the transaction of a step. User code has it while the step runs, and then the engine
// commits it together with the event of the step's completion; only Commit and Rollback of the
// journal end it, whichever comes first, and once. It holds a connection and one of the store's
// slots until then.
type stepTx struct {
	s    *Store
	conn *pgxpool.Conn
	tx   pgx.Tx
	end  sync.Once
	box  driver.Outbox
	body body
}

// stepLimits bound what the engine does in a step's transaction; see beginTimeout and stepTimeout.
type stepLimits struct{ begin, write time.Duration }

// holdSQL follows beginSQL: a transaction may keep row locks for no longer than this while its
// process says nothing. A process that is frozen, or cut off, would else keep its runs from those
// that take them over for as long as its connection lives, because takeovers skip what is locked.
// The server ends the session after that time, and everything is rolled back.
const holdSQL = `SET LOCAL idle_in_transaction_session_timeout = '10s'`

// transaction is call for a function that sends beginSQL, several round trips of statements, and
// endSQL. What it leaves open, by an error, is rolled back here: a connection that goes back to the
// pool inside a transaction would be closed. A transaction that waited in vain for a session which
// hangs in an append is repeated without that session.
func (s *Store) transaction(ctx context.Context, fn func(ctx context.Context, c *pgx.Conn) error) error {
	try := func(ctx context.Context, c *pgx.Conn) error {
		err := fn(ctx, c)
		if !c.IsClosed() && c.PgConn().TxStatus() != 'I' {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
			defer cancel()
			_, undo := c.Exec(ctx, rollbackSQL) // else the pool closes the connection, which does it too
			return errors.Join(err, undo)
		}
		return err
	}
	err := s.call(ctx, try)
	if s.endStalled(ctx, err) {
		err = s.call(ctx, try)
	}
	return err
}

// stepTxSQL switches the plans on that the store's own statements do without: users' SQL is planned
// as everywhere. Behind a pooler the sessions have no settings of the store's. Both mark the
// transaction as a deferrable one, see markSQL.
const (
	stepTxPoolerSQL = beginSQL + `, DEFERRABLE`
	stepTxSQL       = stepTxPoolerSQL + `; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = auto`
)

// The session is the store's again when user code has returned: what the code has set, for the
// transaction or for the session, is taken back before the engine's last statements, which could
// not be written under another role, and be planned for good under other plans. It is all undone if
// the transaction is rolled back. Locks of sessions are left; they keep nobody of the store
// waiting. The first ends every role, and the second begins the one that the connection string may
// have set.
const (
	resetUserSQL   = `RESET SESSION AUTHORIZATION`
	resetRoleSQL   = `RESET ROLE`
	resetSQL       = `RESET ALL`
	resetListenSQL = `UNLISTEN *`
)

// Begin implements driver.TxStore. It waits for a slot for as long as the caller likes, as others
// have theirs for as long as they like, and for the server as long as a call may take.
func (s *Store) Begin(ctx context.Context) (journal.Tx, error) {
	select {
	case s.stepTxs <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.hints.ctx.Done():
		return nil, journal.ErrStoreClosed
	}
	t, err := beginStep(ctx, s)
	if err != nil {
		<-s.stepTxs
		return nil, unsent(ctx, s, err)
	}
	return t, nil
}

// TxLimit implements driver.TxLimiter.
func (s *Store) TxLimit() string {
	return fmt.Sprintf("postgres.Options.StepTxMax=%d", s.o.StepTxMax)
}

func beginStep(ctx context.Context, s *Store) (*stepTx, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.begin)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	begin := stepTxSQL
	if s.o.Pooler {
		begin = stepTxPoolerSQL
	}
	sent := time.Now()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		s.sessions.discard(conn.Conn(), sent, err)
		conn.Release()
		return nil, err
	}
	return &stepTx{s: s, conn: conn, tx: tx, body: body{conn: conn.Conn()}}, nil
}

// Value implements journal.Tx.
func (t *stepTx) Value() any { return guardedTx{watchedTx{t.tx, t}} }

// Outbox implements driver.OutboxTx.
func (t *stepTx) Outbox() *driver.Outbox { return &t.box }

// Rollback implements journal.Tx. It works although ctx has ended, so that no lock outlives the
// step.
func (t *stepTx) Rollback(ctx context.Context) error {
	t.leave()
	t.end.Do(func() {
		t.rollback(ctx)
		t.release()
	})
	return nil
}

// rollback rolls back. A connection on which that cannot be done is closed, and the session is
// ended by another one: the server may not hear of the end of a connection that has fallen silent,
// and would keep what the step has locked, against the next attempt.
func (t *stepTx) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	c := t.conn.Conn()
	sent := time.Now()
	err := t.tx.Rollback(ctx)
	t.s.sessions.discard(c, sent, err)
	if c.IsClosed() {
		t.s.sessions.end(c)
	}
}

// release gives the connection and the slot back. It is called once, under end.
func (t *stepTx) release() {
	t.conn.Release()
	<-t.s.stepTxs
}

// leave ends the body's part: nothing of it is watched or kept any more.
func (t *stepTx) leave() {
	t.box.End()
	t.body.over.Store(true)
}

// unwrap finds the transaction behind a journal.Tx.
func unwrap(tx journal.Tx) (pgx.Tx, error) {
	switch t := tx.(type) {
	case callerTx:
		if ofAStore(t.tx.Conn()) { // what is sent by it now would lock its receivers until the step's end
			return nil, fmt.Errorf("a %T around the transaction of a step: %w: give postgres.InTx the transaction that the body was given", t.tx, journal.ErrInvalid)
		}
		return t.tx, nil
	case *stepTx:
		return t.tx, nil
	}
	return nil, fmt.Errorf("transaction of type %T: %w: this store needs one of its own or of InTx", tx, journal.ErrInvalid)
}
