package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// backlogRouteSQL finds the next route, by one probe of the index of claims.
const backlogRouteSQL = `
SELECT t.queue, t.workflow, t.version FROM reprise_tasks t INDEXED BY reprise_tasks_claim_idx
WHERE t.owner = 0 AND t.state < 2 AND t.visible_at IS NOT NULL AND (t.queue, t.workflow, t.version) > (?, ?, ?)
ORDER BY t.queue, t.workflow, t.version LIMIT 1`

// backlogSQL counts what is due on a route with a priority, from the head of the index of claims:
// oldest first, so the oldest is exact where the count is not.
const backlogSQL = `
SELECT count(*), min(head.visible_at) FROM (
    SELECT t.visible_at FROM reprise_tasks t
    WHERE t.owner = 0 AND t.state < 2 AND t.visible_at IS NOT NULL
      AND t.queue = ? AND t.workflow = ? AND t.version = +? AND t.priority = +? AND t.visible_at <= ?
    ORDER BY t.visible_at LIMIT +?) head`

// Backlog returns what waits for a node, by route. Routes on which only messages could wake a run
// are not among them.
func Backlog(ctx context.Context, s *Store) (list []driver.Backlog, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	at := now().UnixMicro()
	err = s.read(ctx, func(c *conn) error {
		list = nil
		var route journal.Route // less than all that there are
		for len(list) < driver.BacklogRoutesMax {
			found := false
			err := c.query(backlogRouteSQL, func(r row) error {
				route, found = journal.Route{Queue: r.text(0), Workflow: r.text(1), Version: int32(r.int(2))}, true
				return nil
			}, route.Queue, route.Workflow, int64(route.Version))
			if err != nil || !found {
				return err
			}
			b, err := backlogOf(c, route, at)
			if err != nil {
				return err
			}
			list = append(list, b)
		}
		return nil
	})
	return list, err
}

// backlogOf counts one route.
func backlogOf(c *conn, route journal.Route, at int64) (driver.Backlog, error) {
	b := driver.Backlog{Route: route}
	for priority := journal.PriorityMin; priority <= journal.PriorityMax; priority++ {
		err := c.query(backlogSQL, func(r row) error {
			n := r.int(0)
			if n > 0 && (b.Oldest.IsZero() || r.time(1).Before(b.Oldest)) {
				b.Oldest = r.time(1)
			}
			b.Due += int(n)
			return nil
		}, route.Queue, route.Workflow, int64(route.Version), int64(priority), at, int64(driver.BacklogDueMax))
		if err != nil {
			return b, err
		}
	}
	return b, nil
}
