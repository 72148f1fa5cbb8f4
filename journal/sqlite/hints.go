package sqlite

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// hints implements journal.Hints. One process has the file, and a [journal.Journal] spreads hints
// inside its process by itself, so there is nobody to notify. A watch still begins with a scan,
// which the contract promises: what came before it was not heard.
type hints struct{ s *Store }

// Hints implements journal.Store.
func (s *Store) Hints() journal.Hints { return hints{s} }

// Notify implements journal.Hints.
func (hints) Notify([]journal.Hint) {}

// Watch implements journal.Hints.
func (h hints) Watch(ctx context.Context, fn func(journal.Hint)) error {
	fn(journal.Hint{Kind: journal.HintScan})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.s.life.Done():
		return fmt.Errorf("watch hints: %w: %w", journal.ErrUnavailable, errStoreDone)
	}
}
