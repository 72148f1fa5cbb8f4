package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Admin implements driver.Store.
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

// resume makes a task visible. Of an owned one the owner is only asked to look.
func (r *record) resume(now time.Time) {
	r.task.VisibleAt = now
	if r.task.Owner == 0 {
		r.task.State, r.task.Strikes, r.task.Problem = journal.Ready, 0, ""
	}
}
