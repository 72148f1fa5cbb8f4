package memory

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Both methods are for tests: they age a row as time would, and change nothing that time does not.

// Rush makes a free task that waits for a time due now. It is what a test does instead of waiting
// out a back-off, and it changes nothing of a task that is owned or waits for a message only.
func (s *Store) Rush(ctx context.Context, run journal.RunID) error {
	now, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if r := s.db.runs[run]; r != nil && r.open && r.task.Owner == 0 && !r.task.VisibleAt.IsZero() {
		s.db.makeVisible(r, now)
	}
	return nil
}

// Expire lets the lease of a node run out now. Its runs are not freed by that: a Reap of another
// node does so, as in life.
func (s *Store) Expire(ctx context.Context, node journal.NodeID) error {
	now, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if n := s.db.nodes[node]; n != nil {
		n.ExpiresAt = now.Add(-time.Second)
	}
	return nil
}
