package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal/driver"
)

// drainNode asks a node of this process to leave. What has changed is in the audit (J12).
func drainNode(ctx context.Context, s *Store, a *driver.AdminAction) error {
	return s.write(ctx, 0, func(b *batch) error {
		name, changed, err := s.nodes.drain(a.Node)
		if err != nil || !changed {
			return err
		}
		return note(b, a, "", a.NodeDetail(name), now())
	})
}
