package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminDeleteSQL forgets a closed run: its row, its events and its messages.
//
// The row of the run is deleted first, and the other two statements join with what that deleted.
// Two deletes therefore queue up at the row, and the second finds none and answers that the run is
// gone. The condition of the status cannot become wrong while the statement runs, because a closed
// run never opens again.
const adminDeleteSQL = `
WITH gone AS (
    DELETE FROM reprise.runs r WHERE r.id = $1::uuid AND r.status <> 0 RETURNING r.id
), events AS (
    DELETE FROM reprise.events e USING gone g WHERE e.run_id = ANY (ARRAY[g.id])
), inbox AS (
    DELETE FROM reprise.inbox m USING gone g WHERE m.run_id = ANY (ARRAY[g.id])
)
SELECT EXISTS (SELECT FROM gone), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid)`

// adminResumeSQL makes a run visible now, and forgives it what has held it back.
//
// It locks the task alone. If the run is owned, its owner keeps it and is only asked to look:
// state, strikes and problem are the owner's to change with its next commit (J3), so they are left
// alone.
const adminResumeSQL = `
WITH resumed AS (
    UPDATE reprise.tasks t
    SET visible_at = now(),
        state   = CASE WHEN t.owner = 0 THEN 0 ELSE t.state END,
        strikes = CASE WHEN t.owner = 0 THEN 0 ELSE t.strikes END,
        problem = CASE WHEN t.owner = 0 THEN '' ELSE t.problem END
    WHERE t.run_id = $1::uuid
    RETURNING t.run_id
)
SELECT EXISTS (SELECT FROM resumed), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid)`

// adminParentSQL reads what a run's parent is to be told, and whether the run is open. It locks
// nothing: it is sent twice, once to learn who the parent is, which never changes, and once under
// the locks of both tasks, for the status.
const adminParentSQL = `
SELECT r.status, r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy
FROM reprise.runs r WHERE r.id = $1::uuid`

// Admin implements driver.Store. An action that needs a row which somebody's transaction has locked
// waits for it, but one such action of a store at a time keeps its connection while it waits: the
// others give it back and try again. So however many actions wait, other calls of clients find a
// connection.
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) error {
	ctx, end := s.admins.enter(driver.Impatient(inShare(ctx, slowShare)), 1)
	defer end()
	wait, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for pause := time.Duration(adminPauseMin); ; pause = min(2*pause, adminPauseMax) {
		err := act(ctx, s, a)
		if !lockTimeout(err) || !hasty(ctx, 1) {
			return err
		}
		if sleep(wait, pause); wait.Err() != nil {
			return translate(ctx, fmt.Errorf("%w: %w", driver.ErrHeld, err), true)
		}
	}
}

func act(ctx context.Context, s *Store, a driver.AdminAction) error {
	switch a.Kind {
	case driver.AdminDelete:
		return s.adminOne(ctx, s.sql.adminDelete, a.Run, journal.ErrOpen)
	case driver.AdminResume:
		return s.adminOne(ctx, s.sql.adminResume, a.Run, journal.ErrClosed)
	case driver.AdminTerminate:
		return s.adminTerminate(ctx, a)
	}
	return fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
}

// adminOne runs a statement about one run. The statement answers whether it did anything and
// whether the run exists, which tells the error apart: refused for a run that is there, else
// journal.ErrNotFound.
func (s *Store) adminOne(ctx context.Context, sql string, run journal.RunID, refused error) error {
	var done, exists bool
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.query(sql, each(func(row pgx.CollectableRow) error { return row.Scan(&done, &exists) }), uuidArg(run))
		return p.send(ctx, c)
	})
	switch {
	case err != nil || done:
		return err
	case exists:
		return refused
	}
	return journal.ErrNotFound
}

// adminTerminate closes a run, sends the outcome to its parent and applies the close policies of
// its children, in one transaction (J2, J7).
//
// The locks of all tasks involved must be taken in the order of run ids, so the parent has to be
// known before the first lock: it is read without one, once. The status is read again under the
// locks, because the owner may have closed the run meanwhile.
func (s *Store) adminTerminate(ctx context.Context, a driver.AdminAction) error {
	var run journal.Run
	var exists bool
	read := each(func(row pgx.CollectableRow) error {
		var parent pgtype.UUID
		var generation, cmd *int32
		var policy *int16
		err := row.Scan(&run.Status, &run.Workflow, &parent, &generation, &cmd, &policy)
		if exists = true; parent.Valid {
			run.Parent = parentOf(parent, generation, cmd, policy)
		}
		return err
	})
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		run, exists = journal.Run{ID: a.Run}, false
		if err := adminRead(ctx, s, c, a.Run, read); err != nil || !exists {
			return err
		}
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.exec(s.sql.lockFamily, withParent(&run), runIDs([]journal.RunID{a.Run}))
		p.query(s.sql.adminParent, read, uuidArg(a.Run)) // the status under the lock
		if err := p.send(ctx, c); err != nil || !exists || run.Status.Closed() {
			return err
		}
		return s.terminateFamily(ctx, c, &run, journal.TerminatedPayload(a.Reason))
	})
	switch {
	case err != nil:
		return err
	case !exists:
		return journal.ErrNotFound
	case run.Status.Closed():
		return journal.ErrClosed
	}
	return nil
}

// adminRead learns who the parent is, which never changes, so that its task can be locked in order.
func adminRead(ctx context.Context, s *Store, q querier, run journal.RunID, read func(rows pgx.Rows) error) error {
	rows, err := q.Query(ctx, s.sql.adminParent, uuidArg(run))
	if err != nil {
		return err
	}
	return read(rows)
}

// withParent is a run and its parent.
func withParent(run *journal.Run) []pgtype.UUID {
	ids := []pgtype.UUID{uuidArg(run.ID)}
	if run.Parent != nil {
		ids = append(ids, uuidArg(run.Parent.Run))
	}
	return ids
}

// terminateFamily closes a run whose task is locked, with everything that follows from it, and ends
// the transaction. The owner of the run, if there is one, learns of it by its next renewal, or by
// its next commit, which finds another newest event or no task.
func (s *Store) terminateFamily(ctx context.Context, q querier, run *journal.Run, why journal.Payload) (err error) {
	found, err := s.orphansOf(ctx, q, []journal.RunID{run.ID})
	if err != nil {
		return err
	}
	var messages []journal.Message
	if m, waits := run.ParentMessage(&journal.Event{Kind: journal.RunTerminated, Payload: why}); waits {
		messages = append(messages, m)
	}
	for _, child := range found[0].cancelled {
		messages = append(messages, journal.OrphanCancel(child))
	}
	terminated := found[0].terminated
	defer func() { s.pieces.note(err, max(len(terminated), len(messages))) }()
	var p pipeline
	s.exclude.owners(&p, append([]journal.RunID{run.ID}, terminated...))
	s.queueTerminate(&p, []journal.RunID{run.ID}, why)
	_ = s.pieces.in(len(terminated), small, func(from, to int) error {
		s.queueTerminate(&p, terminated[from:to], journal.TerminatedPayload(journal.ParentClosed))
		return nil
	})
	_ = s.pieces.in(len(messages), small, func(from, to int) error { // requests without a payload
		s.queueSend(&p, messages[from:to], make([]journal.Sent, to-from))
		return nil
	})
	p.exec(endSQL)
	return p.send(ctx, q)
}
