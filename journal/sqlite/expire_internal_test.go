package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Expire implements journaltest.Expirer: leases are kept in memory, where no test can reach them otherwise.
func (s *Store) Expire(_ context.Context, node journal.NodeID) error {
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	if n := s.nodes.live[node]; n != nil {
		n.ExpiresAt = time.Now().Add(-time.Second)
	}
	return nil
}
