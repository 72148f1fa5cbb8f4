package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// reapMarkSQL declares nodes dead (J9): those whose lease ran out by the server's clock, and those
// suspects whose session-level lock is still free.
//
// The declaration is what counts, not the death. From here on the node's renewals find no row, and
// its claims and starts own nothing. Its commits still work until its tasks are freed, and may:
// nobody else owns those tasks yet, and the row lock of each task puts the last commit before the
// freeing or after it. A renewal that is faster holds the lock of the node's row, and the condition
// is evaluated again on what it wrote, so a node that has just renewed is let go.
//
// A free lock alone is no evidence: locked_on must be the start of this very server, because a
// restart frees all locks.
const reapMarkSQL = `
UPDATE reprise.nodes n SET lost_at = now()
WHERE n.lost_at IS NULL
  AND (n.expires_at < now()
       OR n.id = ANY ($1::int[]) AND n.locked_on = pg_postmaster_start_time() AND NOT EXISTS (
            SELECT FROM pg_locks l
            WHERE l.locktype = 'advisory' AND l.classid = $2::bigint::oid AND l.objid = n.id::oid AND l.objsubid = 2
              AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
RETURNING n.id`

// reapOwnersSQL finds owners that are not live nodes. It hops from owner to owner along
// tasks_owner_idx, so it costs a probe for each owner however many tasks they have. It starts from
// the tasks and not from the nodes, so it also finds tasks whose owner from birth died, and was
// forgotten, while the start was on its way.
const reapOwnersSQL = `
WITH RECURSIVE owner(id) AS (
    (SELECT t.owner FROM reprise.tasks t WHERE t.owner > 0 ORDER BY t.owner LIMIT 1)
    UNION ALL
    SELECT x.owner FROM owner o CROSS JOIN LATERAL (
        SELECT t.owner FROM reprise.tasks t WHERE t.owner > o.id AND t.owner > 0 ORDER BY t.owner LIMIT 1) x
)
SELECT o.id FROM owner o
WHERE NOT EXISTS (SELECT FROM reprise.nodes n WHERE n.id = o.id AND n.lost_at IS NULL)`

// reapFreeSQL makes a bounded number of a dead owner's tasks visible, and counts a strike against
// each: see driver.QuarantineStrikes for what strikes are for.
//
// Rows that are locked are skipped: a reaper beside this one has them, or a message or a last
// commit is on its way, and the next reap comes back for them. So a task is freed, and its strike
// counted, by exactly one reaper. A commit of the dead owner that comes first keeps its effect and
// wipes the strikes out; one that comes later finds no owner and is refused (J3). The fence stays:
// the next claim raises it.
//
// The numbers are those of journal.TaskState, 0 ready and 2 quarantined, and the text is
// driver.QuarantineProblem's.
const reapFreeSQL = `
WITH batch AS MATERIALIZED (
    SELECT t.run_id, t.strikes + 1 AS strikes
    FROM reprise.tasks t WHERE t.owner = $1::int AND t.owner > 0 LIMIT $2::int FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE reprise.tasks t
    SET owner = 0, unproven = false, strikes = b.strikes,
        state = CASE WHEN b.strikes >= $3::int THEN 2 ELSE 0 END,
        problem = CASE WHEN b.strikes >= $3::int
            THEN format('its owner died %s times in a row before the run committed anything, the last time on node %s', b.strikes, $1::int)
            ELSE '' END,
        visible_at = CASE
            WHEN b.strikes >= $3::int THEN 'infinity'
            WHEN b.strikes >= $4::int THEN now() + least($5::int, power(2, b.strikes - $4::int + 1)) * interval '1 second'
            ELSE now() END
    FROM batch b WHERE t.run_id = ANY (ARRAY[b.run_id])
    RETURNING t.state
)
SELECT count(*) FILTER (WHERE f.state = 0), count(*) FILTER (WHERE f.state = 2) FROM freed f`

// reapDeleteSQL forgets dead nodes that own nothing any more. A node whose tasks were skipped keeps
// its row, so renewSQL goes on to report it and somebody comes back.
const reapDeleteSQL = `
DELETE FROM reprise.nodes n
WHERE n.lost_at IS NOT NULL AND NOT EXISTS (SELECT FROM reprise.tasks t WHERE t.owner = n.id AND t.owner > 0)`

// Reap implements driver.Membership. Any number of nodes may reap at once: what each statement
// does, it does for the rows that it gets. A failure on the way leaves the rest to the next reap,
// because each piece is committed by itself.
func (m *member) Reap(ctx context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	var r driver.Reaped
	var err error
	if r.Nodes, err = m.markDead(ctx, suspects); err != nil {
		return r, err
	}
	owners, err := m.deadOwners(ctx)
	if err != nil {
		return r, err
	}
	for _, owner := range owners {
		for more := true; more; {
			var freed, quarantined int
			err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
				return c.QueryRow(ctx, m.s.sql.reapFree, int32(owner), reapBatch, driver.QuarantineStrikes,
					driver.BackoffStrikes, int(driver.BackoffMax.Seconds())).Scan(&freed, &quarantined)
			})
			if err != nil {
				return r, err
			}
			r.Tasks += freed
			r.Quarantined += quarantined
			more = freed+quarantined > 0
		}
	}
	return r, m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, m.s.sql.reapDelete)
		return err
	})
}

// markDead declares nodes dead and returns those that were not before.
func (m *member) markDead(ctx context.Context, suspects []journal.NodeID) ([]journal.NodeID, error) {
	ids := make([]int32, len(suspects))
	for i, n := range suspects {
		ids[i] = int32(n)
	}
	return m.nodeIDs(ctx, m.s.sql.reapMark, ids, int64(lockClass(m.s.o.Schema)))
}

// deadOwners lists owners of tasks that are not live nodes.
func (m *member) deadOwners(ctx context.Context) ([]journal.NodeID, error) {
	return m.nodeIDs(ctx, m.s.sql.reapOwners)
}

func (m *member) nodeIDs(ctx context.Context, sql string, args ...any) ([]journal.NodeID, error) {
	var ids []journal.NodeID
	err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[journal.NodeID])
		return err
	})
	return ids, err
}
