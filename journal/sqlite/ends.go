package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// endsSQL tells whether a run is closed, by the primary key. Nothing else of its row is read, and
// no page of a large input.
const endsSQL = `SELECT r.status FROM reprise_runs r WHERE r.id = ?`

// Ends implements driver.Store.
func (s *Store) Ends(ctx context.Context, runs []journal.RunID) (ends []driver.End, err error) {
	err = s.read(ctx, func(c *conn) error {
		ends = nil
		used := 0
		for _, run := range runs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e, named, err := endOf(c, run, driver.FitEnd(used))
			if err != nil {
				return err
			}
			if e.Terminal != nil {
				used += len(e.Terminal.Payload.Data)
			}
			if named {
				ends = append(ends, e)
			}
		}
		return nil
	})
	return ends, err
}

// endOf returns the end of a run, and whether there is something to say of it. fits tells whether
// there is room for an outcome.
func endOf(q querier, run journal.RunID, fits bool) (e driver.End, named bool, err error) {
	e = driver.End{Run: run, Err: journal.ErrNotFound}
	status := journal.Open
	err = q.query(endsSQL, func(r row) error { status, e.Err = journal.Status(r.int(0)), nil; return nil }, uuidArg(run))
	switch {
	case err != nil || e.Err != nil:
		return e, true, err
	case !status.Closed():
		return e, false, nil
	case !fits:
		e.Later = true
		return e, true, nil
	}
	closed := journal.Run{ID: run}
	err = addTerminal(q, &closed)
	e.Terminal = closed.Terminal
	return e, true, err
}
