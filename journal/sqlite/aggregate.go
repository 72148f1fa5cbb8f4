package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// tellSQL reads what a history tells: which attempts its steps took.
const tellSQL = `
SELECT count(*), coalesce(sum(e.attempt), 0) FROM reprise_events e WHERE e.run_id = ? AND e.generation = ? AND e.kind IN (2, 3)`

func tell(q querier, run *journal.Run) (*filter.Told, error) {
	told := &filter.Told{}
	read := func(r row) error { told.Steps, told.Attempts = r.int(0), r.int(1); return nil }
	return told, q.query(tellSQL, read, uuidArg(run.ID), int64(run.Generation))
}

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
	w.labels, w.rows = true, map[journal.RunID]*journal.Run{}
	l, err := newListing(w.narrow(a.Filter))
	if err != nil {
		return journal.Aggregated{}, err
	}
	l.where, l.limit = w, most
	err = readList(ctx, s, func(c *conn) error {
		found, err := l.findPlaced(ctx, c)
		for _, run := range found[:min(len(found), most)] {
			var told *filter.Told
			if a.Histories && err == nil {
				told, err = tell(c, w.rows[run])
			}
			tally.Add(w.rows[run], told)
		}
		return err
	})
	if err != nil {
		return journal.Aggregated{}, err
	}
	return filter.Answer(tally.Groups(), by, tally.Runs(), most, at), nil
}
