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
	if a.Scope != nil {
		return adminScope(ctx, s, a)
	}
	switch a.Kind {
	case driver.AdminDelete:
		return adminOne(ctx, s, s.sql.admin.delete, a, journal.ErrOpen)
	case driver.AdminResume:
		return adminHold(ctx, s, s.sql.admin.resume, a)
	case driver.AdminPause, driver.AdminInterrupt:
		return adminHold(ctx, s, s.sql.admin.pause, a, a.Kind == driver.AdminInterrupt, a.FreezeTimers, 2*journal.FreezesMax-1)
	case driver.AdminTerminate:
		return driver.AdminOutcome{}, adminTerminate(ctx, s, a)
	case driver.AdminSetLabels, driver.AdminSetPriority:
		return driver.AdminOutcome{}, adminEdit(ctx, s, a)
	case driver.AdminRetry, driver.AdminReset, driver.AdminSkip, driver.AdminEdit:
		return adminRewind(ctx, s, a)
	case driver.AdminFork:
		return driver.AdminOutcome{}, adminFork(ctx, s, a)
	case driver.AdminDrain:
		return driver.AdminOutcome{}, adminDrain(ctx, s, a)
	case driver.AdminSaveView, driver.AdminDeleteView:
		return driver.AdminOutcome{}, adminView(ctx, s, a)
	case driver.AdminSetLimit, driver.AdminRemoveLimit:
		return driver.AdminOutcome{}, adminLimit(ctx, s, a)
	case driver.AdminReleaseClaim:
		return driver.AdminOutcome{}, adminClaim(ctx, s, a)
	}
	return driver.AdminOutcome{}, fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
}

// adminOne runs a statement about one run, which writes the audit too. The statement answers
// whether it found the run as it must be and whether the run exists, which tells the error apart:
// refused for a run that is there, else journal.ErrNotFound. Whether another caller has acted is
// asked behind it: what the statement does can be done once anyway.
func adminOne(ctx context.Context, s *Store, sql string, a *driver.AdminAction, refused error, more ...any) (out driver.AdminOutcome, err error) {
	var done, exists, acted bool
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		read := each(func(row pgx.CollectableRow) error { return row.Scan(&done, &exists, &out.Owner, &out.State) })
		p.query(sql, read, append(auditArgs(a, a.Detail()), more...)...)
		queueActed(s, &p, a, &acted)
		return p.send(ctx, c)
	})
	switch {
	case err != nil || done:
		return out, err
	case acted:
		return out, driver.ErrActed
	case exists:
		return out, refused
	}
	return out, journal.ErrNotFound
}

// adminHold pauses or resumes a run. The statement changes the task and, if timers stand still, the
// row of the run, by what it finds in both. So it follows the lock of the task, in a transaction:
// its snapshot is newer than the lock, and the row is that of the newest pause or resume.
func adminHold(ctx context.Context, s *Store, sql string, a *driver.AdminAction, more ...any) (out driver.AdminOutcome, err error) {
	var done, exists, full, acted bool
	err = s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.exec(s.sql.lockTasks, runIDs([]journal.RunID{a.Run}))
		if a.Once != nil {
			queueActed(s, &p, a, &acted)
			if err := p.send(ctx, c); err != nil || acted {
				return err
			}
			p = pipeline{}
		}
		read := each(func(row pgx.CollectableRow) error { return row.Scan(&done, &exists, &out.Owner, &out.State, &full) })
		p.query(sql, read, append(auditArgs(a, a.Detail()), more...)...)
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	switch {
	case err != nil:
		return out, err
	case acted:
		return out, driver.ErrActed
	case full:
		return driver.AdminOutcome{}, driver.ErrFreezes()
	case done:
		return out, nil
	case exists:
		return out, journal.ErrClosed
	}
	return out, journal.ErrNotFound
}

// adminScope pauses or resumes a scope, in one transaction with its row of the audit (J12).
func adminScope(ctx context.Context, s *Store, a *driver.AdminAction) (out driver.AdminOutcome, err error) {
	err = s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		out = driver.AdminOutcome{}
		var has *journal.Pause
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.exec(s.sql.admin.scope.lock)
		p.query(s.sql.admin.scope.list, each(func(row pgx.CollectableRow) error {
			pause, err := scanPause(row)
			if pause.Scope == *a.Scope {
				has, out.Pause = &pause, pause.Number
			}
			return err
		}))
		if err := p.send(ctx, c); err != nil {
			return err
		}
		p = pipeline{}
		if a.ScopePaused(has) {
			queueScope(s, &p, a, &out)
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	return out, err
}

// adminTerminate closes a run, sends the outcome to its parent and applies the close policies of
// its children, in one transaction (J2, J7).
//
// The locks of all tasks involved must be taken in the order of run ids, so the parent has to be
// known before the first lock: it is read without one, once. The status is read again under the
// locks, because the owner may have closed the run meanwhile.
func adminTerminate(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var run journal.Run
	var exists, acted bool
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
		if err := adminRead(ctx, s, c, a.Run, read); err != nil || !exists && a.Once == nil {
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
		queueActed(s, &p, a, &acted)
		if err := p.send(ctx, c); err != nil || !exists || acted || run.Status.Closed() {
			return err
		}
		return s.terminateFamily(ctx, c, &run, a)
	})
	switch {
	case err != nil:
		return err
	case acted:
		return driver.ErrActed
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

// terminateFamily closes a run whose task is locked, with everything that follows from it, and ends
// the transaction. The owner of the run, if there is one, learns of it by its next renewal, or by
// its next commit, which finds another newest event or no task.
func (s *Store) terminateFamily(ctx context.Context, q querier, run *journal.Run, a *driver.AdminAction) (err error) {
	why := journal.TerminatedPayload(a.Reason)
	found, err := s.orphansOf(ctx, q, []journal.RunID{run.ID})
	if err != nil {
		return err
	}
	messages := familyMessages(run, &journal.Event{Kind: journal.RunTerminated, Payload: why}, &found[0])
	terminated := found[0].terminated
	defer func() { s.pieces.note(err, max(len(terminated), len(messages))) }()
	var p pipeline
	s.exclude.owners(&p, append([]journal.RunID{run.ID}, terminated...))
	queueTerminate(s, &p, []journal.RunID{run.ID}, why)
	queueOrphans(s, &p, terminated)
	_ = s.pieces.in(len(messages), small, func(from, to int) error { // requests without a payload
		s.queueSend(&p, messages[from:to], make([]journal.Sent, to-from))
		return nil
	})
	p.exec(s.sql.admin.note, append(auditArgs(a, a.Detail()), run.Workflow)...)
	p.exec(endSQL)
	return p.send(ctx, q)
}

// adminEdit changes the row of a run, in one transaction: what the change is and whether the limits
// allow it is decided here, under the locks of task and row, by the code that all stores share.
// Locks are taken in the order of commits, the task's first.
func adminEdit(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var refused error
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		acted, run := false, journal.Run{ID: a.Run}
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
		queueActed(s, &p, a, &acted)
		if err := p.send(ctx, c); err != nil || acted || refused != nil {
			if acted {
				refused = driver.ErrActed
			}
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

// Pauses implements driver.Store.
func (s *Store) Pauses(ctx context.Context) (list []journal.Pause, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, s.sql.admin.scope.list)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanPause)
		return err
	})
	return list, err
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
