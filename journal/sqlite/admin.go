package sqlite

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A closed run is forgotten table by table, in one transaction.
const (
	adminDeleteEventsSQL = `DELETE FROM reprise_events WHERE run_id = ?`
	adminDeleteInboxSQL  = `DELETE FROM reprise_inbox WHERE run_id = ?`
	adminDeleteSQL       = `DELETE FROM reprise_runs WHERE id = ?`
)

// adminPauseSQL puts a run on hold (J11). The owner of an owned one is asked to look: it hears of
// the pause because the task is visible, or by its next commit.
const adminPauseSQL = `UPDATE reprise_tasks SET state = ?, visible_at = iif(owner = 0, visible_at, ?) WHERE run_id = ?`

// adminResumeSQL makes a run visible now, and forgives it what has held it back. If the run is
// owned, its owner keeps it and is only asked to look: state, strikes and problem are the owner's
// to change with its next commit (J3). A pause is not the owner's, so it ends here (J11). A paused
// run that nobody has claimed yet begins when its start says.
const adminResumeSQL = `
UPDATE reprise_tasks
SET visible_at = iif(state = 3 AND fence = 0, max(?1, visible_at), ?1),
    state   = iif(owner = 0 OR state >= 3, 0, state),
    strikes = iif(owner = 0, 0, strikes),
    problem = iif(owner = 0, NULL, problem)
WHERE run_id = ?2`

// The priority of an open run stands in its row and, for claims, in its task's.
const (
	adminPrioritySQL     = `UPDATE reprise_runs SET priority = ? WHERE id = ?`
	adminTaskPrioritySQL = `UPDATE reprise_tasks SET priority = ? WHERE run_id = ?`

	// adminClaimPrioritySQL moves the run in the lines of limits for which it waits: its rank is
	// since, and an ageing for each priority.
	adminClaimPrioritySQL = `
UPDATE reprise_limit_claims SET priority = ?1, rank = since + (rank - since) / priority * ?1
WHERE node = 0 AND run_id = ?2 AND granted_at IS NULL AND ended = 0`
	adminSetPrioritySQL = `
UPDATE reprise_limit_sets AS s SET first = min(s.first, c.rank)
FROM (SELECT c.set_id, c.name, c.key, c.rank FROM reprise_limit_claims c
      WHERE ?1 > 0 AND c.node = 0 AND c.run_id = ?2 AND c.granted_at IS NULL AND c.ended = 0) c
WHERE s.set_id = c.set_id AND s.name = c.name AND s.key = c.key`
)

// Admin implements driver.Store. What has changed a run is in the audit, in the same transaction
// (J12).
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) (out driver.AdminOutcome, err error) {
	if a.Kind < driver.AdminDelete || a.Kind > driver.AdminReleaseClaim {
		return out, fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
	}
	if a.Scope != nil {
		err = s.write(ctx, 0, func(b *batch) (err error) { out, err = pauseScope(b, &a, now()); return err })
		return out, err
	}
	if a.View != nil {
		return out, changeView(ctx, s, &a)
	}
	if a.Kind == driver.AdminDrain {
		return out, drainNode(ctx, s, &a)
	}
	if a.OnLimit() {
		return out, s.write(ctx, 0, func(b *batch) error {
			return b.member(func() error {
				if a.Kind == driver.AdminReleaseClaim {
					return releaseClaim(b, s.nodes, &a, now())
				}
				return setLimit(b, &a, now())
			})
		})
	}
	var lost recalls
	err = s.write(ctx, 0, func(b *batch) error {
		t, err := find(b, a.Run)
		if err == nil {
			err = unacted(b, &a)
		}
		switch {
		case err != nil:
			return err
		case !t.exists:
			return journal.ErrNotFound
		}
		if err := a.Kind.Refuses(t.open); err != nil {
			return err
		}
		changed, detail := true, a.Detail()
		switch a.Kind {
		case driver.AdminDelete:
			err = t.forget(b)
		case driver.AdminTerminate:
			err = terminate(s, b, &t, a.Reason, &lost)
		case driver.AdminResume:
			err = t.resume(b, now())
			out = driver.AdminOutcome{Owner: t.task.Owner, State: min(t.task.State, journal.Ready)}
		case driver.AdminSetLabels, driver.AdminSetPriority:
			detail, err = t.edit(b, &a)
			changed = detail != ""
		case driver.AdminRetry, driver.AdminReset, driver.AdminSkip, driver.AdminEdit:
			out, err = t.rewind(newEffects(s, b, &lost), a.Rewind)
			detail = a.Rewind.Detail()
		case driver.AdminFork:
			detail, err = t.fork(newEffects(s, b, &lost), &a)
			changed = detail != ""
		default:
			changed, err = t.pause(b, &a, now())
			out = driver.AdminOutcome{Owner: t.task.Owner, State: t.task.State}
		}
		if err != nil || !changed {
			return err
		}
		return note(b, &a, t.run.Workflow, detail, now())
	})
	s.nodes.recall(lost)
	return out, err
}

// resume makes a run visible, and lets its timers go on.
func (t *target) resume(q querier, at time.Time) error {
	if t.run.Freezes.Lasts() {
		if err := refreeze(q, t.run.ID, driver.Thaw(t.run.Freezes, &t.task, at)); err != nil {
			return err
		}
	}
	_, err := q.exec(adminResumeSQL, at.UnixMicro(), uuidArg(t.run.ID))
	if err != nil || t.task.Owner != 0 {
		return err
	}
	waits, err := awaitsLimits(q, t.run.ID)
	if err == nil && waits {
		t.task.State = journal.Limited
		x := execs{q: q}
		x.exec(limitWaitSQL, uuidArg(t.run.ID))
		x.exec(limitPauseSQL, int64(0), uuidArg(t.run.ID))
		err = x.err
	}
	return err
}

// pause puts a run on hold, and tells whether it was not, or its timers went on.
func (t *target) pause(q querier, a *driver.AdminAction, at time.Time) (changed bool, err error) {
	if a.FreezeTimers && t.freezesErr != nil {
		return false, &journal.UnreadableError{Run: t.run.ID, Part: "column freezes", Err: t.freezesErr}
	}
	freezes, changed, err := driver.Frozen(t.run.Freezes, a.FreezeTimers, a.Kind == driver.AdminInterrupt, &t.task, at)
	if changed && err == nil {
		err = refreeze(q, t.run.ID, freezes)
	}
	state := driver.PausedBy(a.Kind, &t.task)
	if err != nil || state == t.task.State {
		return changed, err
	}
	t.task.State = state
	x := execs{q: q}
	x.exec(adminPauseSQL, int64(state), at.UnixMicro(), uuidArg(t.run.ID))
	x.exec(limitPauseSQL, int64(1), uuidArg(t.run.ID))
	return true, x.err
}

// edit changes the rows of a run, and returns what the audit says of it: nothing if nothing
// changed.
func (t *target) edit(q querier, a *driver.AdminAction) (detail string, err error) {
	e, err := a.Edit(&t.run)
	if err != nil {
		return "", err
	}
	if err := relabel(q, a.Run, e.Labels); err != nil || e.Priority == 0 {
		return e.Detail, err
	}
	for _, sql := range []string{adminPrioritySQL, adminTaskPrioritySQL, adminClaimPrioritySQL, adminSetPrioritySQL} {
		if _, err := q.exec(sql, int64(e.Priority), uuidArg(a.Run)); err != nil {
			return "", err
		}
	}
	return e.Detail, nil
}

// forget deletes a closed run with its events and messages.
func (t *target) forget(q querier) error {
	for _, sql := range []string{adminDeleteEventsSQL, adminDeleteInboxSQL, adminDeleteSQL} {
		if _, err := q.exec(sql, uuidArg(t.run.ID)); err != nil {
			return err
		}
	}
	return nil
}

// terminate closes a run, sends the outcome to its parent and applies the close policies of its
// children, all in the caller's transaction (J2).
func terminate(s *Store, q querier, t *target, reason string, lost *recalls) error {
	e := newEffects(s, q, lost)
	ev, err := t.terminate(e, reason)
	if err == nil {
		_, err = e.tellFamily(&t.run, ev, nil)
	}
	return err
}

// Pauses implements driver.Store. Of the nodes of another process nobody here knows what they heed.
func (s *Store) Pauses(ctx context.Context) (list []journal.Pause, err error) {
	err = s.read(ctx, func(c *conn) error { list, err = readPauses(c); return err })
	for i := range list {
		list[i].Unheeded = s.nodes.unheeding(list[i].Number)
	}
	return list, err
}

// Audit implements driver.Store.
func (s *Store) Audit(ctx context.Context, f journal.AuditFilter) (list []journal.AuditEntry, err error) {
	before := int64(math.MaxInt64)
	if f.Before != 0 {
		before = f.Before
	}
	sql, args := auditSQL, []any{before, nullText(f.Actor), nullText(f.Verb), int64(f.Limit)}
	if !f.Run.IsZero() {
		sql, args = auditRunSQL, append(args, uuidArg(f.Run))
	}
	err = s.read(ctx, func(c *conn) error {
		return c.query(sql, func(r row) error {
			list = append(list, auditedOf(r))
			return nil
		}, args...)
	})
	return list, err
}
