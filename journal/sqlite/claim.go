package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// claimHeadSQL reads the due tasks of one route and priority, oldest first, from
// reprise_tasks_claim_idx. That index holds only claimable rows and is sorted as the statement
// asks, so the cost is that of the rows returned, whatever waits after them. A plus sign before a
// parameter keeps the plan, as the package's documentation explains: without it SQLite planned each
// claim anew, which was more than half of its time.
const claimHeadSQL = `
SELECT t.run_id, t.visible_at, t.strikes FROM reprise_tasks t
WHERE t.owner = 0 AND t.state < 2 AND t.visible_at IS NOT NULL
  AND t.queue = ? AND t.workflow = ? AND t.version = +? AND t.priority = +? AND t.visible_at <= ?
  AND t.strikes < +? -- no suspects, unless some may be taken
ORDER BY t.visible_at LIMIT +?`

// claimLeaseSQL leases a task: the fence is raised, so commits of the earlier owner find no row
// (J3), and the task is unproven until its owner commits (J4). The link goes to the claimer and
// leaves the row, because nobody keeps it current while the run is owned.
const claimLeaseSQL = `
UPDATE reprise_tasks SET owner = ?, fence = ?, link = 0, visible_at = NULL, state = 0, problem = NULL, unproven = 1
WHERE run_id = ?`

// claimReadSQL reads a task with its run, by the primary keys of both. What has no small limit
// comes only if it is not larger than so many bytes, the room that the claim has left for it. The
// last column says how large it is if it does not. SQLite knows lengths without reading what is
// long.
const (
	claimReadSQL = `
SELECT ` + taskSmall + `, CASE WHEN ` + claimSize + ` <= ?1 THEN t.attempts END,
       ` + runSmall + `,
       CASE WHEN ` + claimSize + ` <= ?1 THEN r.input END,
       CASE WHEN ` + claimSize + ` <= ?1 THEN r.published END,
       CASE WHEN ` + claimSize + ` <= ?1 THEN r.headers END,
       ` + claimSize + `
FROM reprise_tasks t JOIN reprise_runs r ON r.id = t.run_id WHERE t.run_id = ?2`
	claimSize = `(coalesce(octet_length(t.attempts), 0) + coalesce(octet_length(r.input), 0) + coalesce(octet_length(r.published), 0)` +
		` + coalesce(octet_length(r.headers), 0))`
)

// claimUnconfirmedSQL finds what the node owns but never committed to: the answer to an earlier
// claim or start may have been lost (J4), to a context that ended while the writer was at it.
const claimUnconfirmedSQL = `SELECT t.run_id FROM reprise_tasks t WHERE t.owner = +? AND t.owner > 0 AND t.unproven = 1`

// claimAttentionSQL finds owned runs that have messages, by reprise_tasks_owner_idx: a message sets
// the time at which an owned task is visible (J6), which otherwise is null.
const claimAttentionSQL = `
SELECT t.run_id FROM reprise_tasks t
WHERE t.owner = +? AND t.owner > 0 AND t.visible_at <= ? ORDER BY t.visible_at LIMIT +?`

// claimNextSQL tells when the next task of a route and priority falls due, by one index probe.
const claimNextSQL = `
SELECT t.visible_at FROM reprise_tasks t
WHERE t.owner = 0 AND t.state < 2 AND t.visible_at IS NOT NULL
  AND t.queue = ? AND t.workflow = ? AND t.version = +? AND t.priority = +? AND t.visible_at > ?
ORDER BY t.visible_at LIMIT 1`

// Claim implements driver.Store. A node that has left or was declared dead gets nothing, although
// its call may come late: the run would belong to nobody until a sweep finds it.
func (s *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	var c driver.Claim
	call := func(damaged damagedRuns) error {
		return s.write(ctx, 0, func(b *batch) (err error) {
			c, err = claim(b.conn, &r, s.nodes.alive(r.Node), damaged)
			return err
		})
	}
	err := call(nil)
	if found, ok := errors.AsType[damagedRuns](err); ok {
		err = call(found)
	}
	if err != nil {
		return driver.Claim{}, err
	}
	return c, nil
}

// damagedRuns are runs whose rows are on damaged pages, and why. It is the error of a claim that
// has met them: SQLite writes nothing more in a transaction that has, so the claim is repeated
// without a look at these rows.
type damagedRuns map[journal.RunID]error

func (d damagedRuns) Error() string { return fmt.Sprintf("%d runs are on damaged pages", len(d)) }

// Unwrap returns what the driver said of one of them.
func (d damagedRuns) Unwrap() error {
	for _, err := range d {
		return err
	}
	return nil
}

// claim does all of it in the writer's transaction. There is one writer, so nothing it reads can
// change before it writes, and no statement needs to lock or to look twice.
func claim(q querier, r *driver.ClaimRequest, alive bool, damaged damagedRuns) (c driver.Claim, err error) {
	c.Now = now()
	read := claimReader{q, int64(r.BytesMax()), damaged}
	if r.Reconcile { // before the claim, so that no task is reported twice
		runs, err := readIDs(q, claimUnconfirmedSQL, int64(r.Node))
		if err != nil {
			return c, err
		}
		if c.Tasks, err = read.claimed(runs); err != nil {
			return c, err
		}
	}
	routes := unique(r.Routes)
	switch {
	case r.Max == 0:
		c.Waiting, err = countDue(q, routes, c.Now)
	case alive:
		err = acquire(q, r, routes, &c, &read)
	}
	if err != nil {
		return c, err
	}
	if c.Attention, err = readIDs(q, claimAttentionSQL, int64(r.Node), c.Now.UnixMicro(), int64(journal.AttentionMax)); err != nil {
		return c, err
	}
	c.NextDue, err = readNext(q, routes, c.Now)
	return c, err
}

// acquire adds what is due to c, owned by the node.
func acquire(q querier, r *driver.ClaimRequest, routes []journal.Route, c *driver.Claim, read *claimReader) error {
	due, err := readDue(q, routes, r, c.Now)
	if err != nil {
		return err
	}
	free, err := read.claimed(due)
	if err != nil {
		return err
	}
	for i := range free {
		if err := lease(q, r, &free[i].Task); err != nil {
			return err
		}
	}
	c.Tasks = append(c.Tasks, free...)
	return nil
}

// lease makes the node the owner of a free task, in the row and in t alike. Only t keeps the link.
func lease(q querier, r *driver.ClaimRequest, t *journal.Task) error {
	t.Owner, t.Fence = r.Node, t.Fence.Next(r.Chance)
	t.VisibleAt, t.State, t.Problem = time.Time{}, journal.Ready, ""
	_, err := q.exec(claimLeaseSQL, int64(t.Owner), int64(t.Fence), uuidArg(t.Run))
	return err
}

// head is a due task at the front of its route and priority.
type head struct {
	run     journal.RunID
	due     int64
	suspect bool
}

// readDue returns up to r.Max runs that are due: r.ByAge() of them because they are the oldest, the
// others because they are the most urgent, and among equals the oldest.
//
// If suspects may be taken, they are among the heads, and those beyond their number are left out:
// the claim takes fewer tasks then.
func readDue(q querier, routes []journal.Route, r *driver.ClaimRequest, at time.Time) (runs []journal.RunID, err error) {
	below, suspects := driver.SuspectStrikes, r.Suspects
	if suspects > 0 {
		below = driver.QuarantineStrikes
	}
	take := func(from, to int64, n int) error {
		heads, err := oldest(q, routes, from, to, n+len(runs), below, at) // some of them are taken already
		for _, h := range heads {
			switch {
			case n == 0, slices.Contains(runs, h.run):
				continue
			case h.suspect && suspects == 0:
			case h.suspect:
				suspects--
				fallthrough
			default:
				runs = append(runs, h.run)
			}
			n--
		}
		return err
	}
	if n := r.ByAge(); n > 0 {
		err = take(journal.PriorityMin, journal.PriorityMax, n)
	}
	for p := int64(journal.PriorityMin); err == nil && p <= journal.PriorityMax && len(runs) < r.Max; p++ {
		err = take(p, p, r.Max-len(runs))
	}
	return runs, err
}

// oldest returns up to n due tasks of a range of priorities with fewer strikes than below, oldest
// first. Of each route and priority it reads n heads, which is enough whichever has the oldest
// ones.
func oldest(q querier, routes []journal.Route, from, to int64, n, below int, at time.Time) (heads []head, err error) {
	for p := from; p <= to; p++ {
		for _, r := range routes {
			err := q.query(claimHeadSQL, func(r row) error {
				heads = append(heads, head{r.id(0), r.int(1), r.int(2) >= driver.SuspectStrikes})
				return nil
			}, r.Queue, r.Workflow, int64(r.Version), p, at.UnixMicro(), int64(below), int64(n))
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(heads, func(a, b head) int { return cmp.Compare(a.due, b.due) })
	return heads[:min(len(heads), n)], nil
}

// countDue counts the tasks of the routes that are due and that nobody has claimed, up to
// driver.WaitingMax.
func countDue(q querier, routes []journal.Route, at time.Time) (n int, err error) {
	for p := journal.PriorityMin; p <= journal.PriorityMax; p++ {
		for _, r := range routes {
			left := driver.WaitingMax - n
			err := q.query(claimHeadSQL, func(row) error { n++; return nil },
				r.Queue, r.Workflow, int64(r.Version), int64(p), at.UnixMicro(), int64(driver.QuarantineStrikes), int64(left))
			if err != nil || n == driver.WaitingMax {
				return n, err
			}
		}
	}
	return n, nil
}

// claimReader reads what a claim returns.
type claimReader struct {
	q       querier
	room    int64 // for what has no small limit
	damaged damagedRuns
}

// claimed reads the tasks of runs, with their runs, and with what there is room for. A run that is
// known to be damaged comes without its row: its owner blocks it, and nobody else waits for it.
func (c *claimReader) claimed(runs []journal.RunID) (list []driver.Claimed, err error) {
	found := damagedRuns{}
	for _, id := range runs {
		err := c.damaged[id]
		if err == nil {
			err = c.whole(id, &list)
		} else {
			err = c.withoutRow(id, err, &list)
		}
		switch {
		case damaged(err):
			found[id] = err
		case err != nil:
			return nil, err
		}
	}
	if len(found) > 0 {
		return nil, found
	}
	return list, nil
}

// whole adds a task with its run to a list.
func (c *claimReader) whole(id journal.RunID, list *[]driver.Claimed) error {
	return c.q.query(claimReadSQL, func(r row) error {
		run := runOf(r[taskWidth:])
		addTask(&run, r)
		t := driver.ClaimedOf(run)
		if size := r.int(taskWidth + runWidth); size <= c.room {
			c.room -= size
		} else {
			t.Apart = int(size)
		}
		*list = append(*list, t)
		return nil
	}, c.room, uuidArg(id))
}

// withoutRow adds a task alone to a list.
func (c *claimReader) withoutRow(id journal.RunID, why error, list *[]driver.Claimed) error {
	run := journal.Run{ID: id}
	_ = driver.DamagedPart(&run, "row", fmt.Errorf("%w: %w", ErrDamaged, why))
	found, err := addTaskAlone(c.q, &run)
	if found {
		*list = append(*list, driver.ClaimedOf(run))
	}
	return err
}

// readNext returns when the next task of the routes falls due; the zero time if none ever does by
// itself.
func readNext(q querier, routes []journal.Route, at time.Time) (next time.Time, err error) {
	for p := journal.PriorityMin; p <= journal.PriorityMax; p++ {
		for _, r := range routes {
			err := q.query(claimNextSQL, func(r row) error {
				if due := r.time(0); next.IsZero() || due.Before(next) {
					next = due
				}
				return nil
			}, r.Queue, r.Workflow, int64(r.Version), int64(p), at.UnixMicro())
			if err != nil {
				return next, err
			}
		}
	}
	return next, nil
}

// readIDs reads a column of run ids.
func readIDs(q querier, sql string, args ...any) (runs []journal.RunID, err error) {
	err = q.query(sql, func(r row) error { runs = append(runs, r.id(0)); return nil }, args...)
	return runs, err
}

// unique returns the routes, each once: a route that stands twice would be claimed from twice,
// beyond the limit that was asked for. Routes are few, so they are compared one by one.
func unique(routes []journal.Route) []journal.Route {
	list := make([]journal.Route, 0, len(routes))
	for _, r := range routes {
		if !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}
