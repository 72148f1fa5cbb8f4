package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// reapSuspectsSQL finds nodes to declare dead (J9): those whose lease ran out by the server's
// clock, those whose lease has gone, which a restored copy may be without, and those of whose
// process no session was left for their grace. It locks nothing; reapMarkSQL decides, and looks for
// the sessions.
const reapSuspectsSQL = `
SELECT m.node FROM reprise.members m
LEFT JOIN LATERAL (SELECT * FROM reprise.nodes n WHERE n.id = m.node) n ON true
WHERE m.lost_at IS NULL AND (n.id IS NULL OR n.expires_at < now() OR m.node = ANY ($1::int[]))
ORDER BY m.node`

// reapMarkSQL declares a node dead. It looks again, on the newest version of the lease: a renewal
// that is faster holds the lock of the row, and a node that has just renewed is let go. The lease
// of a dead node is -infinity, so that a renewal which waited finds no row.
//
// $2 is the number of renewals of a node that a look has found without a session, a grace ago or
// more; null if the lease decides alone. There must be no session at this second look either, and
// no renewal since the first: contact tells why. The newest renewal must have been made on this
// very server, because a restart ends all sessions without anybody having died.
//
// The declaration is what counts, not the death. It comes under the lock that the node's appends
// share, so from here on no append of the node is written, its renewals find no row, and its claims
// and starts own nothing. Its other commits still work until its tasks are freed, and may: nobody
// else owns those tasks yet, and the row lock of each task puts the last commit before the freeing
// or after it.
const reapMarkSQL = `
WITH lease AS (
    UPDATE reprise.nodes n SET expires_at = '-infinity'
    WHERE n.id = $1::int
      AND (n.expires_at < now()
           OR n.renewals = $2::bigint AND n.process IS NOT NULL AND n.server = pg_postmaster_start_time() AND NOT EXISTS (
                SELECT FROM pg_locks l
                WHERE l.locktype = 'advisory' AND l.classid = $3::bigint::oid AND l.objid = n.process::oid AND l.objsubid = 2
                  AND l.mode = 'ShareLock' AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
    RETURNING n.id
)
UPDATE reprise.members m SET lost_at = now()
WHERE m.node = $1::int AND m.lost_at IS NULL
  AND (EXISTS (SELECT FROM lease) OR NOT EXISTS (SELECT FROM reprise.nodes n WHERE n.id = $1::int))
RETURNING m.node`

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
WHERE NOT EXISTS (SELECT FROM reprise.members m WHERE m.node = o.id AND m.lost_at IS NULL)`

// reapFreeSQL makes a bounded number of a dead owner's tasks visible, and counts what its death
// says of each: driver.StrikesAfter and driver.StrikeWait, in SQL, with chance for what there is a
// hash.
//
// $7 chooses between suspects and the others, who are freed first: so the suspects of the owner can
// still be counted when its other tasks are freed, in whatever pieces and by however many reapers.
// A task that is skipped because it is locked, and freed when the suspect is gone, gets a strike
// that it should not have; it needs more to become a suspect.
//
// Rows that are locked are skipped: a reaper beside this one has them, or a message or a last
// commit is on its way, and the next reap comes back for them. So a task is freed, and its strike
// counted, by exactly one reaper. A commit of the dead owner that comes first keeps its effect and
// wipes the strikes out; one that comes later finds no owner and is refused (J3). The fence stays:
// the next claim raises it.
//
// The numbers are those of journal.TaskState, 0 ready, 2 quarantined, 3 paused, and the text is
// driver.QuarantineProblem's.
const reapFreeSQL = `
WITH suspects AS MATERIALIZED (
    SELECT count(*) AS n FROM reprise.tasks t WHERE t.owner = $1::int AND t.owner > 0 AND t.strikes >= $4::int
), batch AS MATERIALIZED (
    SELECT t.run_id, t.strikes + CASE (SELECT s.n FROM suspects s)
        WHEN 0 THEN 1
        WHEN 1 THEN (t.strikes >= $4::int)::int
        ELSE 0 END AS strikes
    FROM reprise.tasks t
    WHERE t.owner = $1::int AND t.owner > 0 AND (t.strikes >= $4::int) = $7::bool LIMIT $2::int FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE reprise.tasks t
    SET owner = 0, unproven = false, link = 0, strikes = b.strikes,
        state = CASE WHEN t.state >= 3 THEN 3 WHEN b.strikes >= $3::int THEN 2 ELSE 0 END, -- J11: driver.StruckState
        problem = CASE WHEN b.strikes >= $3::int
            THEN format('its owners died before the run committed anything, which was counted %s times, the last time on node %s', b.strikes, $1::int)
            ELSE '' END,
        visible_at = CASE
            WHEN b.strikes >= $3::int THEN 'infinity'
            WHEN b.strikes >= $4::int THEN now() + least($5::float8, $6::float8 * power(2, b.strikes - $4::int)) * (1 + random() / 4) * interval '1 second'
            ELSE now() END
    FROM batch b WHERE t.run_id = ANY (ARRAY[b.run_id])
    RETURNING t.state
)
SELECT count(*) FILTER (WHERE f.state <> 2), count(*) FILTER (WHERE f.state = 2) FROM freed f`

// reapDeleteSQL forgets dead nodes that own nothing any more. A node whose tasks were skipped keeps
// its rows, so looks go on to report it and somebody comes back.
const reapDeleteSQL = `
WITH dead AS MATERIALIZED (
    SELECT m.node FROM reprise.members m
    WHERE m.lost_at IS NOT NULL AND NOT EXISTS (SELECT FROM reprise.tasks t WHERE t.owner = m.node AND t.owner > 0)
), lease AS (
    DELETE FROM reprise.nodes n USING dead d WHERE n.id = ANY (ARRAY[d.node])
)
DELETE FROM reprise.members m USING dead d WHERE m.node = ANY (ARRAY[d.node]) AND m.lost_at IS NOT NULL`

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
		for _, suspects := range []bool{false, true} {
			if err := m.free(ctx, owner, suspects, &r); err != nil {
				return r, err
			}
		}
	}
	return r, m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		p.exec(m.s.sql.member.reapDelete)
		p.exec(m.s.sql.limit.sweep)
		return p.send(ctx, c)
	})
}

// free frees the suspects of a dead node, or its other tasks, in pieces.
func (m *member) free(ctx context.Context, owner journal.NodeID, suspects bool, r *driver.Reaped) error {
	for more := true; more; {
		var freed, quarantined int
		err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			return c.QueryRow(ctx, m.s.sql.member.reapFree, int32(owner), reapBatch, driver.QuarantineStrikes, driver.SuspectStrikes,
				driver.BackoffMax.Seconds(), driver.BackoffMin.Seconds(), suspects).Scan(&freed, &quarantined)
		})
		if err != nil {
			return err
		}
		r.Tasks += freed
		r.Quarantined += quarantined
		more = freed+quarantined > 0
	}
	return nil
}

// markDead declares nodes dead and returns those that were not before. Each is a transaction of its
// own, since each has a lock to wait for.
func (m *member) markDead(ctx context.Context, suspects []journal.NodeID) ([]journal.NodeID, error) {
	ids, renewals := m.condemned(suspects)
	list, err := m.nodeIDs(ctx, m.s.sql.member.reapSuspects, ids)
	var dead []journal.NodeID
	for i := 0; i < len(list) && err == nil; i++ {
		marked, known := false, pgtype.Int8{}
		if k := slices.Index(ids, int32(list[i])); k >= 0 {
			known = pgtype.Int8{Int64: renewals[k], Valid: true}
		}
		err = m.s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
			var p pipeline
			p.exec(beginSQL)
			p.exec(holdSQL)
			m.s.exclude.node(&p, list[i])
			marked = false
			p.query(m.s.sql.member.reapMark, each(func(row pgx.CollectableRow) error {
				marked = true
				return row.Scan(nil)
			}), int32(list[i]), known, int64(uint32(sessionClass(m.s.o.Schema))))
			names, err := m.s.limitLocks.names(ctx, c, &p, list[i], pgtype.Int8{})
			if err != nil {
				return err
			}
			p = pipeline{}
			if marked {
				m.s.limitLocks.free(&p, list[i], names)
			}
			p.exec(endSQL)
			return p.send(ctx, c)
		})
		if marked && err == nil {
			dead = append(dead, list[i])
		}
	}
	return dead, err
}

// deadOwners lists owners of tasks that are not live nodes.
func (m *member) deadOwners(ctx context.Context) ([]journal.NodeID, error) {
	return m.nodeIDs(ctx, m.s.sql.member.reapOwners)
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
