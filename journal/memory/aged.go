package memory

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Rush implements Rusher.
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

// Expire implements Expirer.
func (s *Store) Expire(ctx context.Context, node journal.NodeID) error {
	now, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if n := s.db.nodes[node]; n != nil {
		n.node.ExpiresAt = now.Add(-time.Second)
	}
	return nil
}
