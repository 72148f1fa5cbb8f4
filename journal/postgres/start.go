package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// startReuseSQL lets closed runs give up keys that a start may take over (J8). It comes before
// startSQL in the same transaction, so a key is given up exactly if the new run takes it, or
// another one that was faster.
//
// An open holder keeps its key, and so does one of another workflow; the conditions are evaluated
// again on the locked row, so a holder cannot be judged by what it was. A start that is repeated
// finds its own run and takes nothing over: else its second try would take the key from the run of
// its first (J4).
//
// It locks rows of runs, in the order of keys like every batch's. Two starts of one key queue up
// here or at the unique index, in the same order.
const startReuseSQL = `
WITH given AS (
    -- Row locks on the old holders. The input is in the order of keys, like every batch's.
    SELECT r.id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bool[]) AS i(id, key, workflow, failed_only)
    CROSS JOIN LATERAL (
        SELECT r.id FROM reprise.runs r
        WHERE r.key BETWEEN i.key AND i.key AND r.holds_key AND r.workflow = i.workflow
          AND (r.status > 1 OR r.status = 1 AND NOT i.failed_only)
          AND (SELECT own.version FROM reprise.runs own WHERE own.id = i.id) IS NULL
        ORDER BY r.key LIMIT 1 -- asking for an order leaves the planner of a small table no index but that of keys
        FOR UPDATE OF r) r
)
UPDATE reprise.runs r SET holds_key = false FROM given g WHERE r.id = ANY (ARRAY[g.id])`

// startSQL creates runs and their tasks, for one owner. A run whose id or key exists is left out of
// the answer, and startReadSQL finds out why.
//
// ON CONFLICT DO NOTHING on the unique indexes of ids and keys is what makes concurrent starts
// agree (J8): of two that insert one key, the second waits for the first's transaction to end, then
// inserts if that was rolled back and finds the conflict if it was committed. The input is in the
// order of keys, so two batches wait for each other in one direction only.
//
// A run is owned from birth if its node is a member at this moment. The look at the node takes no
// lock, so the node may be declared dead before this commits; then reapOwnersSQL finds the task,
// whose owner is no live node. The first fence is journal.FenceAtBirth, and the
// task is unproven until the first commit, for the case that the answer is lost (J4).
const startSQL = `
WITH owner AS (
    SELECT EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL) AS alive
), made AS (
    INSERT INTO reprise.runs (id, created_at, start_at, version, priority, holds_key, workflow, queue, key, labels,
                              input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy,
                              headers, timeout, on_failure, beyond_backlog)
    SELECT i.id, statement_timestamp(), statement_timestamp() + i.delay * interval '1 microsecond', i.version, i.priority,
           i.key IS NOT NULL, i.workflow, i.queue, i.key, i.labels::jsonb, i.input, i.encoding, i.trace,
           i.parent, i.parent_generation, i.parent_cmd, i.parent_policy, i.headers, i.timeout, i.on_failure, i.beyond_backlog
    FROM unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::text[], $8::smallint[], $9::text[], $10::bytea[],
                $11::text[], $12::text[], $13::bigint[], $14::uuid[], $15::int[], $16::int[], $17::smallint[],
                $18::text[], $19::bigint[], $20::text[], $21::bool[])
         AS i(id, key, workflow, version, queue, priority, labels, input, encoding, trace, delay,
              parent, parent_generation, parent_cmd, parent_policy, headers, timeout, on_failure, beyond_backlog)
    ON CONFLICT DO NOTHING -- in the input's order, which is the order of keys
    RETURNING id, created_at, start_at, version, priority, workflow, queue
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, fence, owner, unproven, version, priority, queue, workflow)
    SELECT m.id, CASE WHEN o.alive THEN 'infinity' ELSE coalesce(m.start_at, m.created_at) END,
           o.alive::int::bigint << 20, CASE WHEN o.alive THEN $1::int ELSE 0 END, o.alive,
           m.version, m.priority, m.queue, m.workflow
    FROM made m CROSS JOIN owner o
)
SELECT m.id, coalesce(m.start_at, m.created_at), o.alive, clock_timestamp() FROM made m CROSS JOIN owner o`

// Start implements driver.Store. A call with messages is one transaction of several round trips,
// because who gets a message is known only when the keys are decided; any other is one round trip
// for each round.
func (s *Store) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	ctx, end := s.singles.enter(inShare(ctx, clientShare), len(starts))
	defer end()
	out := make([]journal.Started, len(starts))
	size := func(i int) int { return driver.StartBytes(&starts[i]) }
	err := inChunks(len(starts), size, func(from, to int) error {
		return s.startChunk(ctx, tx, starts[from:to], out[from:to])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// startChunk makes the starts of one piece. An impatient caller does not wait for keys that
// somebody else is about to take: the members are tried one by one then, and those get
// driver.ErrHeld.
func (s *Store) startChunk(ctx context.Context, tx journal.Tx, starts []journal.Start, out []journal.Started) error {
	err := s.startTogether(ctx, tx, starts, out)
	if tx != nil || !lockTimeout(err) || !hasty(ctx, len(starts)) {
		return err
	}
	row := 0
	for i := range starts {
		err := error(nil)
		if row < heldInARow {
			err = s.startTogether(alone(ctx), nil, starts[i:i+1], out[i:i+1])
		}
		switch {
		case row == heldInARow, lockTimeout(err):
			out[i] = journal.Started{Run: starts[i].ID, Err: driver.ErrHeld}
			row = min(row+1, heldInARow)
		case err != nil:
			return err
		default:
			row = 0
		}
	}
	return nil
}

// startTogether makes starts, in the caller's transaction or in one of their own.
func (s *Store) startTogether(ctx context.Context, tx journal.Tx, starts []journal.Start, out []journal.Started) error {
	together := slices.ContainsFunc(starts, func(st journal.Start) bool { return st.Message != nil })
	if !together {
		var err error
		if together, err = bounded(ctx, s, tx, starts); err != nil {
			return err
		}
	}
	switch {
	case !together:
		return s.startRounds(starts, out, nil, func(run func(ctx context.Context, q querier) error) error { return s.in(ctx, tx, run) })
	case tx != nil:
		return s.in(ctx, tx, func(ctx context.Context, q querier) error { return s.startIn(ctx, q, starts, out) })
	}
	return s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if _, err := c.Exec(ctx, beginSQL+"; "+holdSQL); err != nil {
			return err
		}
		if err := s.startIn(ctx, c, starts, out); err != nil {
			return err
		}
		_, err := c.Exec(ctx, endSQL)
		return err
	})
}

// bounded tells whether starts must be made in a transaction of several round trips, because they
// need a limit that has a MaxBacklog. In a caller's transaction they may as well be.
func bounded(ctx context.Context, s *Store, tx journal.Tx, starts []journal.Start) (yes bool, err error) {
	keys := startKeys(starts)
	if len(keys) == 0 || tx != nil {
		return len(keys) > 0, nil
	}
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, s.sql.limit.full.bounded, driver.LimitNames(keys)).Scan(&yes)
	})
	return yes, err
}

// startIn makes starts and sends the messages that come with them, inside one transaction, and
// those that follow from what was cancelled for them.
func (s *Store) startIn(ctx context.Context, q querier, starts []journal.Start, out []journal.Started) error {
	late, err := startQuietly(ctx, s, q, starts, out)
	if err != nil || len(late) == 0 {
		return err
	}
	var p pipeline
	s.queueSend(&p, late, make([]journal.Sent, len(late)))
	return p.send(ctx, q)
}

// startQuietly is startIn without the messages that follow from what was cancelled, which it
// returns. The tasks of their receivers are locked.
func startQuietly(ctx context.Context, s *Store, q querier, starts []journal.Start, out []journal.Started) (late []journal.Message, err error) {
	g, err := openGate(ctx, s, q, starts, out)
	if err != nil {
		return nil, err
	}
	if g != nil {
		g.owners = s.exclude.owners
	}
	err = s.startRounds(starts, out, g, func(run func(ctx context.Context, q querier) error) error { return run(ctx, q) })
	if err == nil && g != nil {
		err, late = g.cancel(ctx, q), g.late
	}
	if err != nil {
		return nil, err
	}
	return late, s.sendStartMessages(ctx, q, starts, out)
}

// startRounds works in rounds. Nearly always there is one; a further one follows if the holder of a
// key vanished, or closed and may now be replaced. The number of rounds is bounded, and a start
// that runs out of them gets ErrUnavailable: somebody deletes and starts the key all the time. do
// runs a round in a transaction.
func (s *Store) startRounds(
	starts []journal.Start, out []journal.Started, g *limitGate, do func(run func(ctx context.Context, q querier) error) error,
) error {
	pending := make([]int, len(starts))
	for i := range pending {
		pending[i] = i
	}
	for n := 1; len(pending) > 0; n++ {
		// One order in every batch: two batches with the same keys queue up instead of deadlocking.
		slices.SortFunc(pending, func(a, b int) int {
			return cmp.Or(cmp.Compare(starts[a].Key, starts[b].Key), cmp.Compare(a, b))
		})
		r := startRound{s: s, starts: starts, out: out, gate: g, last: n == startRoundsMax}
		if err := do(func(ctx context.Context, q querier) error { return r.run(ctx, q, pending) }); err != nil {
			return err
		}
		pending = r.again
	}
	return nil
}

// startRound is one try of the starts that have no outcome yet. It may be run again after a
// deadlock, so it begins by forgetting what an earlier run found out.
type startRound struct {
	s      *Store
	starts []journal.Start
	out    []journal.Started
	gate   *limitGate // nil if nothing may be full
	last   bool
	again  []int
}

// run sends the statements of the round: keys are given up, runs are created, and what was not
// created is looked up.
func (r *startRound) run(ctx context.Context, q querier, pending []int) error {
	r.again = nil
	for _, i := range pending {
		r.out[i] = journal.Started{} // of a try that was rolled back
	}
	first := r.firstOfKeys(pending)
	if r.gate != nil {
		var err error
		if first, err = r.letIn(ctx, q, first); err != nil {
			return err
		}
	}
	if err := r.create(ctx, q, first); err != nil {
		return err
	}
	var missing []int
	for _, i := range pending {
		if !r.out[i].Created && r.out[i].Err == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var again pipeline
	r.queueRead(&again, missing)
	again.exec(durableSQL)
	return again.send(ctx, q)
}

// letIn returns the members that no limit refuses. A start that finds a run, its own of an earlier
// try or the one that has its key, takes no place.
func (r *startRound) letIn(ctx context.Context, q querier, members []int) ([]int, error) {
	asks := r.gate.asks(members)
	if len(asks) == 0 {
		return members, nil
	}
	found := startRound{s: r.s, starts: r.starts, out: make([]journal.Started, len(r.starts))}
	var p pipeline
	found.queueRead(&p, asks)
	if err := p.send(ctx, q); err != nil {
		return nil, err
	}
	return r.gate.letIn(found.again, members), nil
}

// create sends the statements that create runs: the small one for a single start, else one for each
// owner, as the owner is a parameter of the whole statement.
func (r *startRound) create(ctx context.Context, q querier, members []int) error {
	x := newExchange(q)
	if hasty(ctx, len(r.starts)) {
		if err := x.add(ctx, heldWaitSQL, nil, nil, nil); err != nil {
			return err
		}
	}
	if err := r.addReuse(ctx, x, members); err != nil {
		return err
	}
	members, limited := r.limited(members)
	if len(limited) > 0 {
		release, err := r.addLimited(ctx, x, limited)
		defer release()
		if err != nil {
			return err
		}
	}
	if len(members) == 1 {
		if err := r.addOne(ctx, x, members[0]); err != nil {
			return err
		}
		return x.send(ctx)
	}
	for _, group := range r.byOwner(members) {
		release, err := r.addInsert(ctx, x, group)
		defer release()
		if err != nil {
			return err
		}
	}
	return x.send(ctx)
}

// firstOfKeys leaves out the later ones of members with one key: they get the first one's run.
// pending is in the order of keys.
func (r *startRound) firstOfKeys(pending []int) []int {
	first := make([]int, 0, len(pending))
	for k, i := range pending {
		if k == 0 || r.starts[i].Key == "" || r.starts[i].Key != r.starts[pending[k-1]].Key {
			first = append(first, i)
		}
	}
	return first
}

// byOwner splits members by the node that is to own them from birth.
func (r *startRound) byOwner(members []int) [][]int {
	var owners []journal.NodeID
	groups := map[journal.NodeID][]int{}
	for _, i := range members {
		o := ownerOf(&r.starts[i])
		if groups[o] == nil {
			owners = append(owners, o)
		}
		groups[o] = append(groups[o], i)
	}
	list := make([][]int, len(owners))
	for k, o := range owners {
		list[k] = groups[o]
	}
	return list
}

// addReuse adds startReuseSQL to an exchange if any member may replace a closed run.
func (r *startRound) addReuse(ctx context.Context, x *exchange, members []int) error {
	b := newReuseBatch()
	for _, i := range members {
		if st := &r.starts[i]; st.Key != "" && st.Reuse != journal.ReuseReject {
			b.add(st)
		}
	}
	if b.list[0].count == 0 {
		return nil
	}
	return x.add(ctx, r.s.sql.startReuse, b.params(), binaryForm, nil)
}

// queueRead adds startReadSQL for members that were not created, and decides what becomes of each.
func (r *startRound) queueRead(p *pipeline, members []int) {
	ids, keys := make([]pgtype.UUID, len(members)), make([]*string, len(members))
	for k, i := range members {
		ids[k], keys[k] = uuidArg(r.starts[i].ID), nullText(r.starts[i].Key)
	}
	p.query(r.s.sql.startRead, each(func(row pgx.CollectableRow) error {
		var f startFound
		var ord int64
		err := row.Scan(&ord, &f.own, &f.owner, &f.fence, &f.holder, &f.workflow, &f.status, &f.holderStart, &f.now)
		if err != nil {
			return err
		}
		i := members[ord-1]
		if done := f.outcome(&r.starts[i], r.last); done != nil {
			r.out[i] = *done
		} else {
			r.again = append(r.again, i)
		}
		return nil
	}), ids, keys)
}
