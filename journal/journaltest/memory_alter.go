package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Alter implements journal.Store.
func (m *Memory) Alter(ctx context.Context, a journal.Alteration) error {
	now, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer m.db.mu.Unlock()
	r := m.db.runs[a.Run]
	if r == nil {
		return journal.ErrNotFound
	}
	switch a.Op {
	case journal.OpDelete:
		if r.open {
			return journal.ErrOpen
		}
		m.db.remove(r)
		return nil
	case journal.OpResume, journal.OpTerminate:
		if !r.open {
			return journal.ErrClosed
		}
		if a.Op == journal.OpTerminate {
			m.db.terminate(r, a.Reason, nil, now)
			return nil
		}
		m.db.lift(r)
		defer m.db.place(r, now)
		r.resume(now)
		return nil
	}
	return fmt.Errorf("operation %d: %w", a.Op, journal.ErrInvalid)
}

// resume makes a task visible. Of an owned one the owner is only asked to look.
func (r *record) resume(now time.Time) {
	r.task.VisibleAt = now
	if r.task.Owner == 0 {
		r.task.State, r.task.Strikes, r.task.Problem = journal.Ready, 0, ""
	}
}
