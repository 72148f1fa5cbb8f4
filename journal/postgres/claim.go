package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// claimSQL leases due tasks. It looks without locks at the heads of all (route, priority) pairs, to learn how many
// tasks of each are among the most urgent and oldest, and then takes that many from each. SKIP LOCKED keeps
// claimers apart; no more rows are locked than are taken. Every read is an ordered scan of tasks_claim_idx,
// which holds nothing but claimable rows. A node that is not a member any more gets nothing.
const claimSQL = `
WITH head AS (
    SELECT r.queue, r.workflow, r.version, p.priority, x.visible_at
    FROM generate_series(1, 5) AS p(priority)
    CROSS JOIN unnest($2::text[], $3::text[], $4::int[]) AS r(queue, workflow, version)
    CROSS JOIN LATERAL (
        SELECT t.visible_at FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state <> 2 AND t.visible_at < 'infinity'
          AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
          AND t.visible_at <= now()
        ORDER BY t.visible_at LIMIT $5::int) x
    WHERE EXISTS (SELECT FROM reprise.nodes n WHERE n.id = $1::int AND n.lost_at IS NULL) -- once, not for each row
    ORDER BY p.priority, x.visible_at LIMIT $5::int
), want AS (
    SELECT h.queue, h.workflow, h.version, h.priority, count(*) AS n
    FROM head h GROUP BY h.queue, h.workflow, h.version, h.priority
), picked AS MATERIALIZED (
    SELECT x.run_id, x.visible_at
    FROM want w
    CROSS JOIN LATERAL (
        SELECT t.run_id, t.visible_at FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state <> 2 AND t.visible_at < 'infinity'
          AND t.queue = w.queue AND t.workflow = w.workflow AND t.version = w.version AND t.priority = w.priority
          AND t.visible_at <= now()
        ORDER BY t.visible_at LIMIT w.n
        FOR UPDATE SKIP LOCKED) x
), taken AS (
    UPDATE reprise.tasks t
    SET owner = $1::int, fence = t.fence + 1, visible_at = 'infinity', state = 0, problem = '', unproven = true
    FROM picked k WHERE t.run_id = ANY (ARRAY[k.run_id])
    RETURNING t.*, k.visible_at AS due_at
)
SELECT ` + taskColumns + `,
       ` + runColumns + `
FROM taken t
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[t.run_id])) r
ORDER BY t.priority, t.due_at, t.run_id`

// claimUnconfirmedSQL finds what the node owns but never committed to: the answer to an earlier claim or start
// may have been lost.
const claimUnconfirmedSQL = `
SELECT ` + taskColumns + `,
       ` + runColumns + `
FROM reprise.tasks t
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[t.run_id])) r
WHERE t.owner = $1::int AND t.owner > 0 AND t.unproven
ORDER BY t.owner, t.visible_at -- for the index, not for the caller`

// claimAttentionSQL finds owned runs that have messages, by tasks_owner_idx.
const claimAttentionSQL = `
SELECT t.run_id FROM reprise.tasks t
WHERE t.owner = $1::int AND t.owner > 0 AND t.visible_at <= now() ORDER BY t.visible_at LIMIT $2::int`

// claimNextSQL tells when the next task of the routes falls due, by one index probe each.
const claimNextSQL = `
SELECT min(x.visible_at), clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::int[]) AS r(queue, workflow, version)
CROSS JOIN generate_series(1, 5) AS p(priority)
CROSS JOIN LATERAL (
    SELECT t.visible_at FROM reprise.tasks t
    WHERE t.owner = 0 AND t.state <> 2 AND t.visible_at < 'infinity'
      AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
      AND t.visible_at > now()
    ORDER BY t.visible_at LIMIT 1) x`

// Claim implements journal.Store.
func (s *Store) Claim(ctx context.Context, r journal.ClaimRequest) (journal.Claim, error) {
	queues, workflows, versions := routeArrays(r.Routes)
	var c journal.Claim
	err := s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		c = journal.Claim{}
		var p pipeline
		if r.Reconcile { // ahead of the claim, so that no task is told twice
			p.query(s.sql.claimUnconfirmed, each(scanClaimed(&c)), int32(r.Node))
		}
		if r.Max > 0 && len(r.Routes) > 0 {
			p.query(s.sql.claim, each(scanClaimed(&c)), int32(r.Node), queues, workflows, versions, int32(r.Max))
		}
		p.query(s.sql.claimAttention, each(func(row pgx.CollectableRow) error {
			var run pgtype.UUID
			if err := row.Scan(&run); err != nil {
				return err
			}
			c.Attention = append(c.Attention, run.Bytes)
			return nil
		}), int32(r.Node), journal.AttentionMax)
		p.query(s.sql.claimNext, each(func(row pgx.CollectableRow) error {
			var next pgtype.Timestamptz
			var now time.Time
			if err := row.Scan(&next, &now); err != nil {
				return err
			}
			c.NextDue, c.Now = timeOf(next), now.UTC()
			return nil
		}), queues, workflows, versions)
		return p.send(ctx, conn)
	})
	if err != nil {
		return journal.Claim{}, err
	}
	return c, nil
}

// scanClaimed reads a task and its run into c.
func scanClaimed(c *journal.Claim) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var t taskRow
		var r runRow
		if err := row.Scan(append(t.targets(), r.targets()...)...); err != nil {
			return err
		}
		run, err := r.run()
		if err != nil {
			return err
		}
		task, err := t.task(run.ID)
		if err != nil {
			return err
		}
		c.Tasks = append(c.Tasks, journal.Claimed{Task: *task, Run: run})
		return nil
	}
}

// routeArrays returns the routes as columns, each once: a doubled route would be claimed from twice.
func routeArrays(routes []journal.Route) (queues, workflows []string, versions []int32) {
	n := len(routes)
	queues, workflows, versions = make([]string, 0, n), make([]string, 0, n), make([]int32, 0, n)
	for i, r := range routes {
		if slices.Contains(routes[:i], r) {
			continue
		}
		queues, workflows, versions = append(queues, r.Queue), append(workflows, r.Workflow), append(versions, r.Version)
	}
	return queues, workflows, versions
}
