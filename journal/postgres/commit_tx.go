package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitXactSQL names the transaction, so that its fate can be asked for on another connection if
// the answer to COMMIT is lost. pg_current_xact_id gives the transaction its number if it has none
// yet, so the name exists before anything depends on it. Up to here the time between two statements
// was user code's; from here on it is bounded, see holdSQL.
const commitXactSQL = `SELECT pg_current_xact_id()::text, pg_backend_pid(), set_config('idle_in_transaction_session_timeout', '10s', true)`

// resolveStatusSQL tells what became of a transaction: in progress, committed or aborted. It raises
// an error for a number that the server has not given out, which happens if the server crashed
// before it wrote anything of the transaction to disk: then it was not committed.
const resolveStatusSQL = `SELECT coalesce(pg_xact_status($1::text::xid8), '')`

// resolveEndSQL ends a session that hangs in the transaction, on the other end of a connection that
// is lost. The session is named by its process and by its transaction together: the process may
// serve another client by now, which must not be ended. The modulo is there because
// pg_stat_activity shows 32 of the 64 bits.
const resolveEndSQL = `
SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
WHERE a.pid = $1::int AND a.backend_xid::text = ($2::text::bigint % 4294967296)::text AND a.datname = current_database()`

// commitInTx writes a turn inside the transaction of its step, and commits it: what the step wrote
// and the event of its completion are one commit. If the transaction has ended already, by Rollback
// or by a commit before this one, the step's work is lost and the attempt must be made again.
func (s *Store) commitInTx(ctx context.Context, c *driver.Commit) (driver.Outcome, error) {
	t, ok := c.Tx.(*stepTx)
	if !ok {
		return driver.Outcome{}, fmt.Errorf("commit %s: transaction of type %T is not a step's: %w", c.Run, c.Tx, journal.ErrInvalid)
	}
	out := driver.Outcome{Err: journal.ErrTxLost}
	var err error
	t.end.Do(func() { out, err = s.commitStep(ctx, t, c) })
	return out, err
}

// commitStep owns the end of the transaction: on each of its paths it is committed or rolled back
// exactly once, and the connection goes back to the pool.
//
// The paths differ in what is known. Before COMMIT is sent, any failure means that nothing was
// written and nothing will be, so the outcome is definite; no answer for as long as a call may take
// is a failure. An error that the server answered to COMMIT is definite too. No answer to COMMIT is
// not, whether the connection is lost or silent: resolve finds out.
func (s *Store) commitStep(ctx context.Context, t *stepTx, c *driver.Commit) (driver.Outcome, error) {
	defer t.release()
	t.leave()
	if lost := t.body.lost(); lost != nil {
		t.rollback(ctx)
		return driver.Outcome{Err: lost}, nil
	}
	out, xact, err := s.writeStep(ctx, t.tx, c)
	if err != nil || out.Err != nil {
		t.rollback(ctx)
	}
	if spent(err) {
		s.sessions.discard(t.conn.Conn(), time.Now(), err)
	}
	switch {
	case err == nil && out.Err == nil:
	case err == nil: // J3
		return out, nil
	case isEnded(err):
		return driver.Outcome{Err: &driver.TxEndedError{}}, nil
	case duplicateEvent(err):
		return driver.Outcome{Err: journal.ErrFenced}, nil
	case memberFault(err) && !appeared(err): // which is nobody's fault, and does not happen again
		return driver.Outcome{Err: translate(ctx, err, false)}, nil
	case ctx.Err() != nil:
		return driver.Outcome{}, translate(ctx, err, false)
	default: // COMMIT was not sent, so nothing was written and nothing will be
		s.endStalled(ctx, err)
		return driver.Outcome{Err: fmt.Errorf("%w: %w", journal.ErrTxLost, err)}, nil
	}
	sent := time.Now()
	limited, cancel := context.WithTimeout(ctx, s.limits.write)
	err = t.tx.Commit(limited)
	cancel()
	if err == nil {
		s.sessions.heard(t.conn.Conn(), sent)
		return out, nil
	}
	s.sessions.discard(t.conn.Conn(), sent, err)
	if _, answered := errors.AsType[*pgconn.PgError](err); answered || errors.Is(err, pgx.ErrTxCommitRollback) {
		if pe, _ := errors.AsType[*pgconn.PgError](err); pe == nil || !passes(pe.Code) {
			return driver.Outcome{Err: fmt.Errorf("%w: %w", journal.ErrTxLost, err)}, nil
		}
	}
	return s.resolve(ctx, c, out, xact)
}

// xact names a transaction: its number, and the server process that runs it.
type xact struct {
	id  string
	pid int32
}

// writeStep writes the turn and its effects inside the transaction of the step. It takes the
// session back first.
func (s *Store) writeStep(ctx context.Context, q querier, c *driver.Commit) (driver.Outcome, xact, error) {
	out := make([]driver.Outcome, 1)
	var x xact
	short, cancelShort := context.WithTimeout(ctx, s.limits.begin) // these wait for nobody
	defer cancelShort()
	var p pipeline
	p.query(markSQL, checkMark)
	p.exec(resetUserSQL)
	p.exec(resetRoleSQL)
	p.exec(resetSQL)
	p.exec(resetListenSQL)
	if !s.o.Pooler {
		settings := settingsSQL
		if s.o.Unprepared {
			settings = settingsTextSQL
		}
		p.query(settings, each(func(row pgx.CollectableRow) error { return nil }))
	}
	p.query(commitXactSQL, each(func(row pgx.CollectableRow) error { return row.Scan(&x.id, &x.pid, nil) }))
	if err := p.send(short, q); err != nil {
		return out[0], x, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.write)
	defer cancel()
	e := effects{s: s, commits: []driver.Commit{*c}, order: []int{0}, out: out}
	var err error
	if c.HasEffects() {
		if err = e.run(ctx, q); err == nil && out[0].Err == nil {
			out[0].Err = c.LostKey(out[0].Started)
		}
	} else {
		err = newWriting(s, q, e.commits, out).full(ctx, e.order)
	}
	return out[0], x, err
}

// resolve finds out whether a COMMIT that got no answer was executed (J4), until that is known or
// ctx ends.
//
// The status is read before the event, and the order matters: a transaction that was over at the
// first read has written its event by the second, or never will. In the other order it could commit
// between the two, and the commit would count as lost although it is stored. A session that stays
// in the transaction keeps the locks of the run and the outcome open, so it is ended after a while.
//
// The step may not be repeated while the outcome is open: it might happen twice. So there is no
// timeout of its own here, and the end of the store leaves the outcome open.
func (s *Store) resolve(ctx context.Context, c *driver.Commit, out driver.Outcome, x xact) (driver.Outcome, error) {
	for began := time.Now(); ; {
		running, statusErr := isRunning(ctx, s, x)
		written, err := s.written(ctx, c)
		switch {
		case err == nil && written:
			return out, nil
		case err == nil && statusErr == nil && !running:
			return driver.Outcome{Err: journal.ErrTxLost}, nil
		case errors.Is(err, journal.ErrStoreClosed): // nobody can ask any more, and Close waits for the connection
			return driver.Outcome{}, fmt.Errorf("commit %s: outcome unknown: %w", c.Run, err)
		case running && time.Since(began) > resolveTerminate:
			_ = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error { // refused or not, the next look tells
				_, err := conn.Exec(ctx, resolveEndSQL, x.pid, x.id)
				return err
			})
		}
		select {
		case <-ctx.Done():
			return driver.Outcome{}, fmt.Errorf("commit %s: outcome unknown: %w", c.Run, context.Cause(ctx))
		case <-time.After(resolvePause):
		}
	}
}

// isRunning tells whether the transaction is still in progress.
func isRunning(ctx context.Context, s *Store, x xact) (bool, error) {
	var status string
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, resolveStatusSQL, x.id).Scan(&status)
	})
	if errors.Is(err, journal.ErrInvalid) {
		return false, nil // a number of the future: the server lost it in a crash
	}
	return status == "in progress", err
}

// written tells whether the commit's own traces are stored, see driver.Commit.WrittenAs.
func (s *Store) written(ctx context.Context, c *driver.Commit) (written bool, err error) {
	err = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := s.commitRead(ctx, conn, []driver.Commit{*c}, []int{0}, func(_ int, own bool, _ driver.Outcome) { written = own })
		if err == nil && written {
			_, err = conn.Exec(ctx, durableSQL)
		}
		return err
	})
	return written, err
}
