package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// Count returns how many runs a filter selects, counted up to most, which is at most
// journal.AggregateMax. capped says that there are as many at least, so that a person is shown
// "10,000+". The filter's Cursor and Limit are not used.
func (c *Client) Count(ctx context.Context, f journal.ListFilter, most int) (runs int, capped bool, err error) {
	out, err := c.j.Aggregate(ctx, journal.Aggregate{Filter: f, Cap: most})
	return out.Runs, out.Capped, err
}

// Aggregate counts the runs that a filter selects and says how long those took that are closed, for
// each value of the groupings: how many runs of each workflow failed in each hour of yesterday, and
// how long did they take? It reads at most a.Cap runs, and the answer says when that was not
// enough.
func (c *Client) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	return c.j.Aggregate(ctx, a)
}
