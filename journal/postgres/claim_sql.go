package postgres

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// claimSQL leases due tasks to a node: the $12 oldest, then the most urgent, among equals the
// oldest.
//
// It first looks, without locks, at the heads of all pairs of route and priority, to learn how many
// tasks of each pair are among the best $5. Whatever the order between pairs, those of one pair
// come oldest first. So the best are the first few of each pair, and it takes that many of each.
// SKIP LOCKED keeps claimers apart: a row that another claim is taking, or a message is changing,
// is passed over and claimed by whoever comes next. No more rows are locked than are taken. The
// look may be out of date when the rows are locked; then fewer tasks are taken, or slightly less
// urgent ones, and never one twice, because the conditions are evaluated again on the locked row.
//
// Each claim raises the fence, as journal.Fence.Next does, so commits of the earlier owner find no
// row (J3). The link goes to the new owner and is taken out of the row: it says in which state the
// run was freed, and that is over. The task is unproven until its owner commits: if the answer of
// this statement is lost, claimUnconfirmedSQL finds the task again (J4). A node that has left or
// was declared dead, or whose id another incarnation has by now, gets nothing: the claim whose
// answer was lost may reach the server late, and the run would belong to nobody until a sweep finds
// it.
//
// Every read is an ordered scan of tasks_claim_idx, which holds only claimable rows and is sorted
// as the statement asks. The cost is that of the rows taken plus a probe for each pair, whatever
// waits behind them; TestClaimIsFlat compares the pages read. $8 is where the search begins, see
// marks: rows that were taken leave dead entries before it.
//
// What has no small limit comes with a claim as far as $13 bytes go, see claimFits.
//
// Suspects, who have $11 strikes, are passed over unless some may be taken: $10 is a number of
// strikes that the tasks are below. Of those that are found then, $9 are taken, and the others are
// locked for the moment of the statement.
const claimSQL = claimTake + `
SELECT ` + claimColumns + `
FROM taken t
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[t.run_id])) r
CROSS JOIN (SELECT $13::bigint AS bytes) most
ORDER BY t.priority, t.due_at, t.run_id`

// claimTake is the part of claimSQL that chooses and takes.
const claimTake = `
WITH head AS (
    SELECT r.queue, r.workflow, r.version, p.priority, x.visible_at, row_number() OVER (ORDER BY x.visible_at) AS age
    FROM generate_series(1, 5) AS p(priority)
    CROSS JOIN unnest($2::text[], $3::text[], $4::int[]) AS r(queue, workflow, version)
    CROSS JOIN LATERAL (
        SELECT t.visible_at FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
          AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
          AND t.visible_at <= now() AND t.visible_at >= $8::timestamptz AND t.strikes < $10::int
        ORDER BY t.visible_at LIMIT $5::int) x
    WHERE EXISTS ( -- once, not for each row
        SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $6::uuid AND m.lost_at IS NULL)
), best AS (
    SELECT h.queue, h.workflow, h.version, h.priority
    FROM head h ORDER BY h.age <= $12::int DESC, h.priority, h.visible_at LIMIT $5::int
), want AS (
    SELECT b.queue, b.workflow, b.version, b.priority, count(*) AS n
    FROM best b GROUP BY b.queue, b.workflow, b.version, b.priority
), picked AS MATERIALIZED (
    SELECT x.run_id, x.visible_at, x.link,
           x.strikes < $11::int OR row_number() OVER (PARTITION BY x.strikes >= $11::int ORDER BY w.priority, x.visible_at) <= $9::int AS mine
    FROM want w
    CROSS JOIN LATERAL (
        SELECT t.run_id, t.visible_at, t.link, t.strikes FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
          AND t.queue = w.queue AND t.workflow = w.workflow AND t.version = w.version AND t.priority = w.priority
          AND t.visible_at <= now() AND t.visible_at >= $8::timestamptz AND t.strikes < $10::int
        ORDER BY t.visible_at LIMIT w.n
        FOR UPDATE SKIP LOCKED) x
), taken AS (
    UPDATE reprise.tasks t
    SET owner = $1::int, fence = (((t.fence >> 20) + 1) << 20) | $7::int, visible_at = 'infinity', state = 0, problem = '',
        unproven = true, link = 0
    FROM picked k WHERE k.mine AND t.run_id = ANY (ARRAY[k.run_id])
    RETURNING t.run_id, t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
              t.attempts, t.waiting, t.strikes, t.state, t.problem, k.link, k.visible_at AS due_at
)`

// claimUnconfirmedSQL finds what the node owns but never committed to: the answer to an earlier
// claim or start may have been lost (J4). It locks nothing, because only the node itself can
// confirm these tasks. Its order is that of tasks_owner_idx, to force that index; the caller needs
// none.
const claimUnconfirmedSQL = `
SELECT ` + claimColumns + `
FROM (
    SELECT * FROM reprise.tasks t
    WHERE t.owner = $1::int AND t.owner > 0 AND t.unproven
      AND EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL)
    ORDER BY t.owner, t.visible_at) t -- for the index, not for the caller
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[t.run_id])) r
CROSS JOIN (SELECT $3::bigint AS bytes) most`

// What a claim says of each task. What has no small limit, such as an input, comes as far as there
// is room: one large input would keep all that is claimed with it waiting for seconds on a slow
// network. The smallest come first, so a small run never pays for a large one beside it. Of the
// others the claim tells the size, and they are loaded, see driver.Claimed. Sizes of values that
// are stored outside of their rows are in the rows, so nothing of what is left out is fetched.
const (
	claimColumns = taskSmall + `, CASE WHEN ` + claimFits + ` THEN t.attempts END,
       ` + runSmall + `,
       CASE WHEN ` + claimFits + ` THEN r.input END,
       CASE WHEN ` + claimFits + ` THEN r.published END,
       CASE WHEN ` + claimFits + ` THEN r.headers END,
       CASE WHEN ` + claimFits + ` THEN 0 ELSE ` + claimSize + ` END`
	claimFits = `sum(` + claimSize + `) OVER (ORDER BY ` + claimSize + `, t.run_id ROWS UNBOUNDED PRECEDING) <= most.bytes`
	claimSize = `(octet_length(t.attempts) + coalesce(octet_length(r.input), 0) + coalesce(octet_length(r.published), 0)` +
		` + coalesce(octet_length(r.headers), 0))`
)

// claimAttentionSQL finds owned runs that have messages: a message sets the time at which an owned
// task is visible (J6), which otherwise is infinity, and tasks_owner_idx is sorted by that time. So
// this is one probe if there are none. It locks nothing; an owner that has read the message
// meanwhile loads nothing new.
const claimAttentionSQL = `
SELECT t.run_id FROM reprise.tasks t
WHERE t.owner = $1::int AND t.owner > 0 AND t.visible_at <= now() ORDER BY t.visible_at LIMIT $2::int`

// claimNextSQL tells when the next task of the routes falls due, by one probe of tasks_claim_idx
// for each route and priority. A task that becomes visible earlier does so by a message, a start or
// a reap, each of which sends a hint, and a poll finds it without one.
const claimNextSQL = `
SELECT min(x.visible_at), clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::int[]) AS r(queue, workflow, version)
CROSS JOIN generate_series(1, 5) AS p(priority)
CROSS JOIN LATERAL (
    SELECT t.visible_at FROM reprise.tasks t
    WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
      AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
      AND t.visible_at > now()
    ORDER BY t.visible_at LIMIT 1) x`

// claimWaitingSQL counts due tasks that nobody has claimed, up to $4: what a full node leaves. It
// is an ordered scan of tasks_claim_idx from where claims begin to read, see marks.
const claimWaitingSQL = `
SELECT count(*) FROM (
    SELECT FROM unnest($1::text[], $2::text[], $3::int[]) AS r(queue, workflow, version)
    CROSS JOIN generate_series(1, 5) AS p(priority)
    CROSS JOIN LATERAL (
        SELECT FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity'
          AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
          AND t.visible_at <= now() AND t.visible_at >= $5::timestamptz
        ORDER BY t.visible_at LIMIT $4::int) x
    LIMIT $4::int) y`

// claimQuery is what the statements of a claim have in common.
type claimQuery struct {
	queues, workflows []string
	versions          []int32
	me                pgtype.UUID // the incarnation
	search            search
	below             int // how many strikes a task may not have
	limit             int // how many tasks make a full claim; 0 if none does
}

// take returns the parameters of claimTake, and waiting those of claimWaitingSQL.
func (q *claimQuery) take(r *driver.ClaimRequest) []any {
	return []any{int32(r.Node), q.queues, q.workflows, q.versions, int32(r.Max), q.me, int32(r.Chance & (1<<journal.FenceChanceBits - 1)),
		q.search.after(), r.Suspects, q.below, driver.SuspectStrikes, int32(r.ByAge())}
}

func (q *claimQuery) waiting() []any {
	return []any{q.queues, q.workflows, q.versions, int32(driver.WaitingMax), q.search.after()}
}

// scanAttention reads a run that has messages into c, and scanNext when the next task is due.
func scanAttention(c *driver.Claim) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var run pgtype.UUID
		if err := row.Scan(&run); err != nil {
			return err
		}
		c.Attention = append(c.Attention, run.Bytes)
		return nil
	}
}

func scanNext(c *driver.Claim) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var next pgtype.Timestamptz
		var now time.Time
		if err := row.Scan(&next, &now); err != nil {
			return err
		}
		c.NextDue, c.Now = timeOf(next), now.UTC()
		return nil
	}
}

// scanClaimed reads a task and its run into c.
func scanClaimed(c *driver.Claim) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var t taskRow
		var r runRow
		var apart int
		if err := row.Scan(append(append(t.targets(), r.targets()...), &apart)...); err != nil {
			return err
		}
		run := r.run()
		t.addTo(&run)
		claimed := driver.ClaimedOf(run)
		claimed.Apart = apart
		c.Tasks = append(c.Tasks, claimed)
		return nil
	}
}

// routeArrays returns the routes as columns, each once: a route that stands twice would be claimed
// from twice, beyond the limit that was asked for.
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
