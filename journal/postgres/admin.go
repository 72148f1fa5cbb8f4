package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminDeleteSQL forgets a closed run: its row, its events and its messages.
//
// The row of the run is deleted first, and the other statements join with what that deleted. Two
// deletes therefore queue up at the row, and the second finds none and answers that the run is
// gone: it still sees the closed run in its snapshot, and does not take it for an open one. The
// condition of the status cannot become wrong while the statement runs, because a closed
// run never opens again. So there is one row of the audit for each run that is deleted (J12).
const adminDeleteSQL = `
WITH gone AS (
    DELETE FROM reprise.runs r WHERE r.id = $1::uuid AND r.status <> 0 RETURNING r.id, r.workflow
), events AS (
    DELETE FROM reprise.events e USING gone g WHERE e.run_id = ANY (ARRAY[g.id])
), inbox AS (
    DELETE FROM reprise.inbox m USING gone g WHERE m.run_id = ANY (ARRAY[g.id])
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, g.id, g.workflow, $4::text, $5::text FROM gone g
)
SELECT EXISTS (SELECT FROM gone), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid AND r.status = 0), 0, 0`

// adminResumeSQL makes a run visible now, and forgives it what has held it back.
//
// It locks the task alone. If the run is owned, its owner keeps it and is only asked to look:
// state, strikes and problem are the owner's to change with its next commit (J3), so they are left
// alone. A pause is not the owner's, so it ends here (J11). A paused run that nobody has claimed
// yet begins when its start says.
const adminResumeSQL = `
WITH resumed AS (
    UPDATE reprise.tasks t
    SET visible_at = CASE WHEN t.state = 3 AND t.fence = 0 THEN greatest(now(), t.visible_at) ELSE now() END,
        state   = CASE WHEN t.owner = 0 OR t.state >= 3 THEN 0 ELSE t.state END,
        strikes = CASE WHEN t.owner = 0 THEN 0 ELSE t.strikes END,
        problem = CASE WHEN t.owner = 0 THEN '' ELSE t.problem END
    WHERE t.run_id = $1::uuid
    RETURNING t.run_id, t.workflow, t.owner, t.state
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, r.run_id, r.workflow, $4::text, $5::text FROM resumed r
)
SELECT EXISTS (SELECT FROM resumed), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid),
       coalesce((SELECT r.owner FROM resumed r), 0), coalesce((SELECT r.state FROM resumed r), 0)`

// adminPauseSQL puts a run on hold (J11), as driver.PausedBy says: $6 is whether running attempts
// are to be interrupted.
//
// It locks the task alone, and reads it under that lock: a commit of the owner comes before, and
// the owner then hears of the pause because the task is visible, or after, and finds the mark. So
// does a claim, which skips the row while it is locked and does not see it afterwards. A pause that
// changes nothing leaves no row in the audit (J12).
const adminPauseSQL = `
WITH held AS MATERIALIZED (
    SELECT t.run_id, t.workflow, t.owner, t.state FROM reprise.tasks t WHERE t.run_id = $1::uuid FOR UPDATE OF t
), paused AS (
    UPDATE reprise.tasks t
    SET state = CASE WHEN h.owner = 0 THEN 3 WHEN $6::bool THEN 5 ELSE 4 END,
        visible_at = CASE WHEN h.owner = 0 THEN t.visible_at ELSE now() END
    FROM held h
    WHERE t.run_id = ANY (ARRAY[h.run_id]) AND (h.state < 3 OR $6::bool AND h.owner > 0 AND h.state < 5)
    RETURNING t.run_id, t.workflow, t.state
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, p.run_id, p.workflow, $4::text, $5::text FROM paused p
)
SELECT EXISTS (SELECT FROM held), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid),
       coalesce((SELECT h.owner FROM held h), 0), coalesce((SELECT p.state FROM paused p), (SELECT h.state FROM held h), 0)`

// adminParentSQL reads what a run's parent is to be told, and whether the run is open. It locks
// nothing: it is sent twice, once to learn who the parent is, which never changes, and once under
// the locks of both tasks, for the status.
const adminParentSQL = `
SELECT r.status, r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy
FROM reprise.runs r WHERE r.id = $1::uuid`

// adminRowSQL reads what an operator may change in the row of a run, and locks the row: a closed
// run has no task whose lock keeps two operators apart. The lock of an open run's task is held
// already, as in a commit, so the row is that of the newest turn.
const adminRowSQL = `SELECT r.status, r.workflow, r.priority, r.labels::text FROM reprise.runs r WHERE r.id = $1::uuid FOR UPDATE OF r`

// adminPrioritySQL changes the priority of an open run: in its row and, for claims, in its task's.
const adminPrioritySQL = `
WITH queued AS (
    UPDATE reprise.tasks t SET priority = $2::smallint WHERE t.run_id = $1::uuid
)
UPDATE reprise.runs r SET priority = $2::smallint WHERE r.id = $1::uuid`

// Admin implements driver.Store. An action that needs a row which somebody's transaction has locked
// waits for it, but one such action of a store at a time keeps its connection while it waits: the
// others give it back and try again. So however many actions wait, other calls of clients find a
// connection.
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	ctx, end := s.admins.enter(driver.Impatient(inShare(ctx, slowShare)), 1)
	defer end()
	wait, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for pause := time.Duration(adminPauseMin); ; pause = min(2*pause, adminPauseMax) {
		out, err := act(ctx, s, &a)
		if !lockTimeout(err) || !hasty(ctx, 1) {
			return out, err
		}
		if sleep(wait, pause); wait.Err() != nil {
			// The server has answered that nothing was done: the store is not away.
			return out, translate(ctx, driver.ErrHeld, false)
		}
	}
}

func act(ctx context.Context, s *Store, a *driver.AdminAction) (driver.AdminOutcome, error) {
	switch a.Kind {
	case driver.AdminDelete:
		return adminOne(ctx, s, s.sql.admin.delete, a, journal.ErrOpen)
	case driver.AdminResume:
		return adminOne(ctx, s, s.sql.admin.resume, a, journal.ErrClosed)
	case driver.AdminPause, driver.AdminInterrupt:
		return adminOne(ctx, s, s.sql.admin.pause, a, journal.ErrClosed, a.Kind == driver.AdminInterrupt)
	case driver.AdminTerminate:
		return driver.AdminOutcome{}, s.adminTerminate(ctx, a)
	case driver.AdminSetLabels, driver.AdminSetPriority:
		return driver.AdminOutcome{}, adminEdit(ctx, s, a)
	}
	return driver.AdminOutcome{}, fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
}

// adminOne runs a statement about one run, which writes the audit too. The statement answers
// whether it found the run as it must be and whether the run exists, which tells the error apart:
// refused for a run that is there, else journal.ErrNotFound.
func adminOne(ctx context.Context, s *Store, sql string, a *driver.AdminAction, refused error, more ...any) (out driver.AdminOutcome, err error) {
	var done, exists bool
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		read := each(func(row pgx.CollectableRow) error { return row.Scan(&done, &exists, &out.Owner, &out.State) })
		p.query(sql, read, append(auditArgs(a, a.Kind.Detail()), more...)...)
		return p.send(ctx, c)
	})
	switch {
	case err != nil || done:
		return out, err
	case exists:
		return out, refused
	}
	return out, journal.ErrNotFound
}

// adminTerminate closes a run, sends the outcome to its parent and applies the close policies of
// its children, in one transaction (J2, J7).
//
// The locks of all tasks involved must be taken in the order of run ids, so the parent has to be
// known before the first lock: it is read without one, once. The status is read again under the
// locks, because the owner may have closed the run meanwhile.
func (s *Store) adminTerminate(ctx context.Context, a *driver.AdminAction) error {
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
		p.query(s.sql.admin.parent, read, uuidArg(a.Run)) // the status under the lock
		if err := p.send(ctx, c); err != nil || !exists || run.Status.Closed() {
			return err
		}
		return s.terminateFamily(ctx, c, &run, a)
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
	rows, err := q.Query(ctx, s.sql.admin.parent, uuidArg(run))
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
func (s *Store) terminateFamily(ctx context.Context, q querier, run *journal.Run, a *driver.AdminAction) (err error) {
	why := journal.TerminatedPayload(a.Reason)
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
	p.exec(s.sql.admin.note, append(auditArgs(a, a.Kind.Detail()), run.Workflow)...)
	p.exec(endSQL)
	return p.send(ctx, q)
}

// adminEdit changes the row of a run, in one transaction: what the change is and whether the limits
// allow it is decided here, under the locks of task and row, by the code that all stores share.
// Locks are taken in the order of commits, the task's first.
func adminEdit(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var refused error
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		run := journal.Run{ID: a.Run}
		refused = journal.ErrNotFound
		read := each(func(row pgx.CollectableRow) error {
			var labels *string
			if err := row.Scan(&run.Status, &run.Workflow, &run.Priority, &labels); err != nil {
				return err
			}
			var malformed error
			run.Labels, malformed = driver.DecodeLabels(textOf(labels))
			driver.NoteUnreadable(&run, "labels", malformed)
			refused = a.Kind.Refuses(run.Status == journal.Open)
			return nil
		})
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.exec(s.sql.lockTasks, runIDs([]journal.RunID{a.Run}))
		p.query(s.sql.admin.row, read, uuidArg(a.Run))
		if err := p.send(ctx, c); err != nil || refused != nil {
			return err
		}
		var e driver.Edit
		if e, refused = a.Edit(&run); refused != nil || e.Detail == "" {
			return nil
		}
		return writeEdit(ctx, s, c, a, &e, run.Workflow)
	})
	if err != nil {
		return err
	}
	return refused
}

// writeEdit writes an edit with its row of the audit (J12), and ends the transaction.
func writeEdit(ctx context.Context, s *Store, q querier, a *driver.AdminAction, e *driver.Edit, workflow string) error {
	var p pipeline
	if e.Labels != nil {
		text, err := driver.EncodeLabelChanges(e.Labels)
		if err != nil {
			return err
		}
		p.exec(s.sql.row.relabel, []pgtype.UUID{uuidArg(a.Run)}, []string{text})
	}
	if e.Priority != 0 {
		p.exec(s.sql.admin.priority, uuidArg(a.Run), e.Priority)
	}
	p.exec(s.sql.admin.note, append(auditArgs(a, e.Detail), workflow)...)
	p.exec(endSQL)
	return p.send(ctx, q)
}

// Audit implements driver.Store.
func (s *Store) Audit(ctx context.Context, f journal.AuditFilter) (list []journal.AuditEntry, err error) {
	before := int64(math.MaxInt64)
	if f.Before != 0 {
		before = f.Before
	}
	sql, args := s.sql.admin.list, []any{before, nullText(f.Actor), nullText(f.Verb), int32(f.Limit)}
	if !f.Run.IsZero() {
		sql, args = s.sql.admin.ofRun, append(args, uuidArg(f.Run))
	}
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanAudited)
		return err
	})
	return list, err
}
