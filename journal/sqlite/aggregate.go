package sqlite

import (
	"context"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// Aggregate implements driver.Store. It finds runs as a listing without an order does, newest
// first, and counts in Go what their rows tell.
func (s *Store) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	by, err := filter.ParseBy(a.By)
	if err != nil {
		return journal.Aggregated{}, err
	}
	at, tally, most := now(), filter.NewTally(by), filter.CapOf(&a)
	w, err := newFinding(&a.Filter, at)
	if err != nil {
		return journal.Aggregated{}, err
	}
	w.q.Order = filter.Order{}
	w.decode = slices.ContainsFunc(by, func(b filter.By) bool { return b.Field == filter.FieldLabel })
	w.rows = map[journal.RunID]*journal.Run{}
	l, err := newListing(w.narrow(a.Filter))
	if err != nil {
		return journal.Aggregated{}, err
	}
	l.where, l.limit = w, most
	err = readList(ctx, s, func(c *conn) error {
		found, err := l.findPlaced(ctx, c)
		for chunk := range slices.Chunk(found[:min(len(found), most)], listChunk) {
			var told map[journal.RunID]filter.Told
			if a.Histories && err == nil {
				told, err = tell(c, chunk)
			}
			for _, run := range chunk {
				t := told[run]
				tally.Add(w.rows[run], &t)
			}
		}
		return err
	})
	if err != nil {
		return journal.Aggregated{}, err
	}
	return filter.Answer(tally.Groups(), by, tally.Runs(), most, at), nil
}
