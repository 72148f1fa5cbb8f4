package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// claimTasksSQL is claimSQL without the rows of runs, and claimUnconfirmedTasksSQL is
// claimUnconfirmedSQL without: they touch nothing but tasks.
const (
	claimTasksSQL = claimTake + `
SELECT t.run_id, ` + narrowTask + `
FROM taken t ORDER BY t.priority, t.due_at, t.run_id`

	claimUnconfirmedTasksSQL = `
SELECT t.run_id, ` + narrowTask + `
FROM reprise.tasks t
WHERE t.owner = $1::int AND t.owner > 0 AND t.unproven
  AND EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL)
ORDER BY t.owner, t.visible_at -- for the index, not for the caller`
)

// claimRowsSQL reads what a claim says of tasks that it has taken.
const claimRowsSQL = `
SELECT ` + claimColumns + `
FROM unnest($1::uuid[]) AS i(id)
CROSS JOIN LATERAL (SELECT * FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN (SELECT $2::bigint AS bytes) most`

// claim is Claim for a queue of which some run is damaged. It takes the tasks alone, in a
// transaction of its own, and reads their rows afterwards: a run whose row cannot be read is the
// node's all the same, and its owner blocks it. If the node dies between the two, or an error ends
// the call, the tasks are unproven, and a claim with Reconcile finds them (J4).
//
// Tasks that are damaged themselves have no names. Each route is claimed by itself then, and those
// that meet the damage are told of.
func (s salvage) claim(ctx context.Context, r *driver.ClaimRequest, q claimQuery) (c driver.Claim, err error) {
	q.search.end(time.Time{}) // it proves nothing
	if r.Reconcile {
		err = s.part(ctx, s.sql.claimLeft.unconfirmed, scanTaken(&c), int32(r.Node), q.me)
		if err = s.tolerate(ctx, "what this node has claimed", err); err != nil {
			return driver.Claim{}, err
		}
	}
	switch {
	case len(r.Routes) == 0:
	case r.Max > 0:
		err = s.take(ctx, r, q, &c)
	default:
		err = s.part(ctx, s.sql.claimLeft.waiting, func(row pgx.CollectableRow) error { return row.Scan(&c.Waiting) }, q.waiting()...)
		err = s.tolerate(ctx, "what waits for a node", err)
	}
	if err != nil {
		return driver.Claim{}, err
	}
	err = s.part(ctx, s.sql.claimAttention, scanAttention(&c), int32(r.Node), journal.AttentionMax)
	if err = s.tolerate(ctx, "who has messages", err); err != nil {
		return driver.Claim{}, err
	}
	err = s.part(ctx, s.sql.claimLeft.next, scanNext(&c), q.queues, q.workflows, q.versions)
	if err = s.tolerate(ctx, "who is due next", err); err == nil && c.Now.IsZero() {
		err = s.part(ctx, listNowSQL, func(row pgx.CollectableRow) error { return row.Scan(&c.Now) })
		c.Now = c.Now.UTC()
	}
	if err == nil {
		err = s.readTaken(ctx, r, &c)
	}
	if err != nil {
		return driver.Claim{}, err
	}
	return c, nil
}

// part executes one statement of a claim.
func (s salvage) part(ctx context.Context, sql string, scan func(row pgx.CollectableRow) error, args ...any) error {
	return s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return each(scan)(rows)
	})
}

// take takes tasks, of each route by itself if those of some cannot be read. It begins with
// any of them, so that none takes all places for good. It fails if no route can be claimed from.
func (s salvage) take(ctx context.Context, r *driver.ClaimRequest, q claimQuery, c *driver.Claim) error {
	before := len(c.Tasks)
	err := s.part(ctx, s.sql.claimLeft.tasks, scanTaken(c), q.take(r)...)
	if !driver.IsDamaged(err) || len(q.queues) == 1 {
		return err
	}
	c.Tasks = c.Tasks[:before]
	var damage error
	failed, n := 0, len(q.queues)
	for k := range n {
		one, i := *r, (k+int(r.Chance%uint32(n)))%n
		for _, t := range c.Tasks[before:] {
			if one.Max--; t.Task.Strikes >= driver.SuspectStrikes {
				one.Suspects--
			}
		}
		if one.Max <= 0 {
			break
		}
		route, taken := q, len(c.Tasks)
		route.queues, route.workflows, route.versions = q.queues[i:i+1], q.workflows[i:i+1], q.versions[i:i+1]
		err := s.part(ctx, s.sql.claimLeft.tasks, scanTaken(c), route.take(&one)...)
		if driver.IsDamaged(err) {
			c.Tasks, damage = c.Tasks[:taken], err
			failed++
		}
		if err = s.tolerate(ctx, "tasks of workflow "+q.workflows[i]+" in queue "+q.queues[i], err); err != nil {
			return err
		}
	}
	if failed == n {
		return damage
	}
	return nil
}

// readTaken reads the rows of what was taken.
func (s salvage) readTaken(ctx context.Context, r *driver.ClaimRequest, c *driver.Claim) error {
	ids := make([]journal.RunID, len(c.Tasks))
	at := make(map[journal.RunID]int, len(c.Tasks))
	for i := range c.Tasks {
		ids[i], at[c.Tasks[i].Run.ID] = c.Tasks[i].Run.ID, i
	}
	room := r.BytesMax()
	read := func(from, to int) error {
		var part driver.Claim
		if err := s.part(ctx, s.sql.claimLeft.rows, scanClaimed(&part), runIDs(ids[from:to]), room); err != nil {
			return err
		}
		for i := range part.Tasks {
			t := &part.Tasks[i]
			if t.Apart == 0 {
				room -= driver.ApartBytes(&t.Run, 0)
			}
			taken := &c.Tasks[at[t.Run.ID]]
			delete(at, t.Run.ID)
			taken.Run, taken.Apart = t.Run, t.Apart
			taken.Task.Attempts, taken.Task.Waiting = t.Task.Attempts, t.Task.Waiting
		}
		return nil
	}
	if len(ids) == 0 {
		return nil
	}
	err := driver.ApartFromDamage(0, len(ids), read, func(i int, why error) error {
		run := &c.Tasks[i].Run
		_ = driver.DamagedPart(run, s.damagedPart(ctx, run.ID), why)
		return nil
	})
	for _, i := range at { // they have a task and no row
		_ = driver.DamagedPart(&c.Tasks[i].Run, "row", errRowGone)
	}
	return err
}

// errRowGone is about a run of which there is no row, but a task.
var errRowGone = fmt.Errorf("%w: it is not there; see Damaged data in docs/operating-postgres.md", journal.ErrDamaged)

// scanTaken reads a task without its run into c. Of the run it says what its task says.
func scanTaken(c *driver.Claim) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var t taskRow
		var run journal.Run
		if err := row.Scan(append([]any{&run.ID}, t.targets()...)...); err != nil {
			return err
		}
		t.addTo(&run)
		run.Generation, run.Queue, run.Workflow, run.Version, run.Priority = run.Task.Generation, run.Task.Queue, run.Task.Workflow, run.Task.Version, run.Task.Priority
		c.Tasks = append(c.Tasks, driver.ClaimedOf(run))
		return nil
	}
}

// tolerate returns the error of a call unless it is about damage, which it tells of.
func (s salvage) tolerate(ctx context.Context, what string, err error) error {
	if !driver.IsDamaged(err) {
		return err
	}
	if s.told.news(what) {
		s.o.Logger.ErrorContext(ctx, "a part of the queue is damaged and is left out; the rest goes on", "what", what, "error", err)
	}
	return nil
}
