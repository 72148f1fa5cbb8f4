package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Admin implements driver.Store. A termination takes the task away from whoever owns it: that node
// learns of it when its next commit is refused (J3).
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) error {
	now, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	r := s.db.runs[a.Run]
	if r == nil {
		return journal.ErrNotFound
	}
	switch a.Kind {
	case driver.AdminDelete:
		// Its children may be open still: they keep their parent's id and find nobody to report to.
		if r.open {
			return journal.ErrOpen
		}
		s.db.remove(r)
		return nil
	case driver.AdminResume, driver.AdminTerminate:
		if !r.open {
			return journal.ErrClosed
		}
		if a.Kind == driver.AdminTerminate {
			s.db.terminate(r, a.Reason, nil, now)
			return nil
		}
		s.db.dequeue(r)
		defer s.db.enqueue(r, now)
		r.resume(now)
		return nil
	}
	return fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
}

// resume makes a task visible. Of an owned one the owner is only asked to look: to take its state
// away would be a second owner's work.
func (r *record) resume(now time.Time) {
	r.task.VisibleAt = now
	if r.task.Owner == 0 {
		r.task.State, r.task.Strikes, r.task.Problem = journal.Ready, 0, ""
	}
}
