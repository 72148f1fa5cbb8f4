package faulty

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// OnePerPage is a store whose pages of runs have no room for a second one. Whoever takes a page for
// all that a filter selects finds out.
type OnePerPage struct{ driver.Store }

// List implements driver.Store.
func (s OnePerPage) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	f.Limit = 1
	return s.Store.List(ctx, f)
}
