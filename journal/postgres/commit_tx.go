package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
)

// commitXactSQL names the transaction, so that its fate can be asked for on another connection. Up to here the time was user
// code's; see holdSQL for what it is from now on.
const commitXactSQL = `SELECT pg_current_xact_id()::text, pg_backend_pid(), set_config('idle_in_transaction_session_timeout', '10s', true)`

// resolveStatusSQL tells what became of a transaction. It errs for a number that the server has not given out, which
// happens if it crashed before it wrote anything of it.
const resolveStatusSQL = `SELECT coalesce(pg_xact_status($1::text::xid8), '')`

// resolveEventSQL looks for the commit's own first event, and for the task it left behind. The event proves
// the write even if the run has moved on since.
const resolveEventSQL = `
SELECT EXISTS (SELECT FROM reprise.events e
               WHERE e.run_id = $1::uuid AND e.generation = $2::int AND e.seq = $3::int
                 AND e.kind = $4::smallint AND coalesce(e.cmd, 0) = $5::int AND e.at = $6::timestamptz)
    OR EXISTS (SELECT FROM reprise.tasks t WHERE t.run_id = $1::uuid AND t.fence = $7::bigint AND t.turn = $8::bigint + 1)
    OR EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid AND r.closed_fence = $7::bigint)`

// resolveEndSQL ends a session that hangs in the transaction, behind a connection that is lost.
const resolveEndSQL = `
SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
WHERE a.pid = $1::int AND a.backend_xid::text = ($2::text::bigint % 4294967296)::text AND a.datname = current_database()`

// commitInTx writes a turn inside the transaction of its step, and commits it.
func (s *Store) commitInTx(ctx context.Context, c *journal.Commit) (journal.Outcome, error) {
	t, ok := c.Tx.(*stepTx)
	if !ok {
		return journal.Outcome{}, fmt.Errorf("commit %s: transaction of type %T is not a step's: %w", c.Run, c.Tx, journal.ErrInvalid)
	}
	out := journal.Outcome{Err: journal.ErrTxLost}
	var err error
	t.end.Do(func() { out, err = s.commitStep(ctx, t, c) })
	return out, err
}

// commitStep owns the end of the transaction.
func (s *Store) commitStep(ctx context.Context, t *stepTx, c *journal.Commit) (journal.Outcome, error) {
	defer t.release()
	rollback := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = t.tx.Rollback(ctx)
	}
	if !t.alive() {
		rollback()
		return journal.Outcome{Err: journal.ErrTxLost}, nil
	}
	out, xact, err := s.writeStep(ctx, t.tx, c)
	switch {
	case err == nil && out.Err == nil:
	case err == nil: // J3
		rollback()
		return out, nil
	case duplicateEvent(err):
		rollback()
		return journal.Outcome{Err: &journal.SeqError{Run: c.Run, Seq: c.Events[0].Seq}}, nil
	case memberFault(err):
		rollback()
		return journal.Outcome{Err: translate(ctx, err, false)}, nil
	case ctx.Err() != nil:
		rollback()
		return journal.Outcome{}, translate(ctx, err, false)
	default: // COMMIT was not sent, so nothing was written and nothing will be
		rollback()
		return journal.Outcome{Err: fmt.Errorf("%w: %w", journal.ErrTxLost, err)}, nil
	}
	err = t.tx.Commit(ctx)
	if err == nil {
		return out, nil
	}
	if _, answered := errors.AsType[*pgconn.PgError](err); answered || errors.Is(err, pgx.ErrTxCommitRollback) {
		if pe, _ := errors.AsType[*pgconn.PgError](err); pe == nil || !unavailable(pe.Code) {
			return journal.Outcome{Err: fmt.Errorf("%w: %w", journal.ErrTxLost, err)}, nil
		}
	}
	return s.resolve(ctx, c, out, xact)
}

// xact names a transaction.
type xact struct {
	id  string
	pid int32
}

func (s *Store) writeStep(ctx context.Context, q querier, c *journal.Commit) (journal.Outcome, xact, error) {
	out := make([]journal.Outcome, 1)
	var x xact
	var p pipeline
	if !s.o.Pooler {
		p.exec(ownPlansSQL)
	}
	p.query(commitXactSQL, each(func(row pgx.CollectableRow) error { return row.Scan(&x.id, &x.pid, nil) }))
	if err := p.send(ctx, q); err != nil {
		return out[0], x, err
	}
	e := effects{s: s, commits: []journal.Commit{*c}, order: []int{0}, out: out}
	var err error
	if c.HasEffects() {
		err = e.run(ctx, q)
	} else {
		err = s.write(ctx, q, e.commits, e.order, out)
	}
	return out[0], x, err
}

// resolve finds out whether a COMMIT that got no answer was executed (J4), until it is known or ctx ends.
// The status is read before the event: a transaction that was over then has written its event by now, or never will.
func (s *Store) resolve(ctx context.Context, c *journal.Commit, out journal.Outcome, x xact) (journal.Outcome, error) {
	for began := time.Now(); ; {
		running, statusErr := s.running(ctx, x)
		written, err := s.written(ctx, c)
		switch {
		case err == nil && written:
			return out, nil
		case err == nil && statusErr == nil && !running:
			return journal.Outcome{Err: journal.ErrTxLost}, nil
		case running && time.Since(began) > resolveTerminate:
			_ = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error { // refused or not, the next look tells
				_, err := conn.Exec(ctx, resolveEndSQL, x.pid, x.id)
				return err
			})
		}
		select {
		case <-ctx.Done():
			return journal.Outcome{}, fmt.Errorf("commit %s: outcome unknown: %w", c.Run, context.Cause(ctx))
		case <-time.After(resolvePause):
		}
	}
}

func (s *Store) running(ctx context.Context, x xact) (bool, error) {
	var status string
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, resolveStatusSQL, x.id).Scan(&status)
	})
	if errors.Is(err, journal.ErrInvalid) {
		return false, nil // a number of the future: the server lost it in a crash
	}
	return status == "in progress", err
}

func (s *Store) written(ctx context.Context, c *journal.Commit) (written bool, err error) {
	ev := journal.Event{}
	if len(c.Events) > 0 {
		ev = c.Events[0]
	}
	err = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, s.sql.resolveEvent, uuidArg(c.Run), int32(c.Generation), int32(ev.Seq), int16(ev.Kind),
			int32(ev.Cmd), nullTime(ev.Time), int64(c.Fence), int64(c.Turn)).Scan(&written)
	})
	return written, err
}
