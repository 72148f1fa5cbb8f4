package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Admin implements driver.Store. A termination takes the task away from whoever owns it: that node
// learns of it when its next commit is refused (J3). What has changed a run is in the audit (J12).
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) (out driver.AdminOutcome, err error) {
	now, err := s.enter(ctx)
	if err != nil {
		return out, err
	}
	defer s.db.mu.Unlock()
	if a.Scope != nil {
		return s.db.pauseScope(&a, now), nil
	}
	if a.View != nil {
		return out, s.db.view(&a, now)
	}
	switch a.Kind {
	case driver.AdminDrain:
		return out, s.db.drain(&a, now)
	case driver.AdminSetLimit, driver.AdminRemoveLimit:
		return out, setLimit(s.db, &a, now)
	case driver.AdminReleaseClaim:
		return out, releaseClaim(s.db, &a, now)
	}
	r, err := findUnacted(s.db, &a)
	if err != nil {
		return out, err
	}
	if err := a.Kind.Refuses(r.open); err != nil {
		return out, err
	}
	changed, detail := true, a.Detail()
	switch a.Kind {
	case driver.AdminDelete:
		s.db.remove(r) // its open children keep their parent's id and find nobody to report to
	case driver.AdminTerminate:
		s.db.terminate(r, a.Reason, nil, now)
	case driver.AdminResume, driver.AdminPause, driver.AdminInterrupt:
		s.db.dequeue(r)
		defer s.db.enqueue(r, now)
		if a.Kind == driver.AdminResume {
			r.resume(now)
		} else if changed, err = r.pause(&a, now); err != nil {
			return out, err
		}
		s.db.limits.heed(r)
		out = driver.AdminOutcome{Owner: r.task.Owner, State: r.task.State}
	case driver.AdminSetLabels, driver.AdminSetPriority:
		e, err := a.Edit(&r.run)
		if err != nil {
			return out, err
		}
		s.db.edit(r, &e, now)
		changed, detail = e.Detail != "", e.Detail
	case driver.AdminRetry, driver.AdminReset, driver.AdminSkip, driver.AdminEdit:
		if err := s.db.rewind(r, a.Rewind, now); err != nil {
			return out, err
		}
		detail = a.Rewind.Detail()
		out = driver.AdminOutcome{State: r.task.State}
	case driver.AdminFork:
		return out, s.db.fork(r, &a, now)
	default:
		return out, fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
	}
	if changed {
		s.db.note(&a, r.run.Workflow, detail, now)
	}
	return out, nil
}

// resume makes a task visible. Of an owned one the owner is only asked to look: to take its state
// away would be a second owner's work. A pause is no part of that state (J11).
func (r *record) resume(now time.Time) {
	r.run.Freezes = driver.Thaw(r.run.Freezes, &r.task, instant(now))
	if r.task.State != journal.Paused || r.task.Fence != 0 || r.task.VisibleAt.Before(now) { // else it begins when its start says
		r.task.VisibleAt = now
	}
	if r.task.Owner == 0 {
		r.task.State, r.task.Strikes, r.task.Problem = journal.Ready, 0, ""
	} else if r.task.State.OnHold() {
		r.task.State = journal.Ready
	}
}

// edit changes the rows of a run. A task that is queued moves to the queue of its new priority.
func (db *database) edit(r *record, e *driver.Edit, now time.Time) {
	if e.Labels != nil {
		r.run.Relabel(e.Labels)
	}
	if e.Priority != 0 {
		db.dequeue(r)
		r.run.Priority, r.task.Priority = e.Priority, e.Priority
		db.limits.move(r.run.ID, e.Priority)
		db.enqueue(r, now)
	}
}

// pause puts a task on hold, and tells whether it was not, or its timers went on. The owner of an
// owned one is asked to look.
func (r *record) pause(a *driver.AdminAction, now time.Time) (changed bool, err error) {
	freezes, changed, err := driver.Frozen(r.run.Freezes, a.FreezeTimers, a.Kind == driver.AdminInterrupt, &r.task, instant(now))
	if err != nil {
		return false, err
	}
	r.run.Freezes = freezes
	state := driver.PausedBy(a.Kind, &r.task)
	if state == r.task.State {
		return changed, nil
	}
	if r.task.State = state; r.task.Owner != 0 {
		r.task.VisibleAt = now
	}
	return true, nil
}
