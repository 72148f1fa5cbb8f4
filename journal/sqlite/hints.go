package sqlite

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// hints implements driver.Hints. One process has the file, and a [journal.Journal] spreads hints
// inside its process by itself, so there is nobody to notify. A watch still begins with a scan,
// which the contract promises: what came before it was not heard.
type hints struct{ s *Store }

// Hints implements driver.Store.
func (s *Store) Hints() driver.Hints { return hints{s} }

// Notify implements driver.Hints. There is nobody who could hear.
func (hints) Notify([]driver.Hint) {}

// Watch implements driver.Hints.
func (h hints) Watch(ctx context.Context, fn func(driver.Hint)) error {
	fn(driver.Hint{Kind: driver.HintScan})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.s.life.Done():
		return fmt.Errorf("watch hints: %w", journal.ErrStoreClosed)
	}
}
