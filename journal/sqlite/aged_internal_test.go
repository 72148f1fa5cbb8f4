package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Aged ages what tests would have to wait for.
type Aged struct{ *Store }

// Rush implements journaltest.Rusher.
func (s Aged) Rush(ctx context.Context, run journal.RunID) error {
	return s.write(ctx, 0, func(b *batch) error {
		_, err := b.exec(`UPDATE reprise_tasks SET visible_at = ? WHERE run_id = ? AND owner = 0 AND visible_at IS NOT NULL`,
			now().UnixMicro(), uuidArg(run))
		return err
	})
}

// Expire implements journaltest.Expirer.
func (s Aged) Expire(_ context.Context, node journal.NodeID) error {
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	if n := s.nodes.live[node]; n != nil {
		n.ExpiresAt = time.Now().Add(-time.Second)
	}
	return nil
}
