package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/migrations"
)

// backlogSQL counts what is due on each route. It locks nothing. The routes come from the index of
// claims, by one probe for each: the next route is the first that is greater. Of each route and
// priority it reads the head of that index, at most $2 tasks, oldest first, so the oldest is exact
// where the count is not. TestBacklogIsFlat compares the pages read.
const backlogSQL = `
WITH RECURSIVE route AS (
    (SELECT t.queue, t.workflow, t.version, 1 AS n FROM reprise.tasks t
     WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity' ORDER BY t.queue, t.workflow, t.version LIMIT 1)
    UNION ALL
    SELECT x.queue, x.workflow, x.version, r.n + 1
    FROM route r CROSS JOIN LATERAL (
        SELECT t.queue, t.workflow, t.version FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
          AND (t.queue, t.workflow, t.version) > (r.queue, r.workflow, r.version)
        ORDER BY t.queue, t.workflow, t.version LIMIT 1) x
    WHERE r.n < $1::int
)
SELECT r.queue, r.workflow, r.version, sum(d.n)::bigint, min(d.oldest)
FROM route r CROSS JOIN generate_series(1, 5) AS p(priority)
CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(h.visible_at) AS oldest FROM (
        SELECT t.visible_at FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
          AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
          AND t.visible_at <= now()
        ORDER BY t.visible_at LIMIT $2::int) h) d
GROUP BY r.queue, r.workflow, r.version ORDER BY r.queue, r.workflow, r.version`

// Backlog returns what waits for a node, by route. Routes on which only messages could wake a run
// are not among them. It needs no right but to read.
func Backlog(ctx context.Context, s *Store) (list []driver.Backlog, err error) {
	sql := migrations.Render(backlogSQL, s.o.Schema)
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		list = nil
		rows, err := c.Query(ctx, sql, driver.BacklogRoutesMax, driver.BacklogDueMax)
		if err != nil {
			return err
		}
		return each(func(row pgx.CollectableRow) error {
			var b driver.Backlog
			var oldest *time.Time
			if err := row.Scan(&b.Route.Queue, &b.Route.Workflow, &b.Route.Version, &b.Due, &oldest); err != nil {
				return err
			}
			if oldest != nil {
				b.Oldest = oldest.UTC()
			}
			list = append(list, b)
			return nil
		})(rows)
	})
	return list, err
}
