package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitGate decides which runs of a batch of starts may come to wait for limits that have a
// MaxBacklog (J14). It has the gates of these limits until the transaction ends, so two batches do
// not take the same place: what it has read changes only by what it lets in, and by rounds, which
// let runs begin and never make more of them wait than before.
type limitGate struct {
	s      *Store
	starts []journal.Start
	out    []journal.Started
	rooms  map[driver.LimitKey]*driver.LimitRoom   // of keys that are bounded
	came   map[int]driver.Arrival                  // members that were let in
	late   []journal.Message                       // to parents and children of what was cancelled
	now    int64                                   // when the rooms were read, in microseconds
	owners func(p *pipeline, runs []journal.RunID) // excludes the appends of those who own runs
}

// startKeys are the keys of limits that starts need which these may refuse, each once.
func startKeys(starts []journal.Start) (keys []driver.LimitKey) {
	for i := range starts {
		if starts[i].BeyondBacklog {
			continue
		}
		for _, n := range starts[i].Limits {
			keys = append(keys, driver.LimitKey{Name: n.Name, Key: n.Key})
		}
	}
	slices.SortFunc(keys, driver.CompareLimitKeys)
	return slices.Compact(keys)
}

// gates adds the statement that takes the gates of limits.
func (l *limitLocks) gates(p *pipeline, keys []driver.LimitKey) {
	names := driver.LimitNames(keys)
	hashes := make([]int32, len(names))
	for i, name := range names {
		hashes[i] = limitHashes([]string{name})[0]
	}
	p.exec(l.sql.full.gate, l.gate, names, hashes)
}

// openGate takes the gates and reads the rooms behind them. It returns nil if nothing is bounded.
func openGate(ctx context.Context, s *Store, q querier, starts []journal.Start, out []journal.Started) (*limitGate, error) {
	keys := startKeys(starts)
	if len(keys) == 0 {
		return nil, nil
	}
	g := &limitGate{s: s, starts: starts, out: out, rooms: map[driver.LimitKey]*driver.LimitRoom{}, came: map[int]driver.Arrival{}}
	var p pipeline
	if hasty(ctx, len(starts)) {
		p.exec(heldWaitSQL)
	}
	s.limitLocks.gates(&p, keys)
	names, list := limitArrays(keys)
	p.query(s.sql.limit.full.room, each(func(row pgx.CollectableRow) error {
		r := &driver.LimitRoom{Limit: new(journal.Limit)}
		var per int64
		err := row.Scan(&r.Name, &r.Key, &r.Limit.Concurrency, &r.Limit.Rate.N, &per, &r.Limit.Rate.Burst, &r.Limit.MaxBacklog, &r.Limit.OnFull,
			&r.Total, &r.Ready, &r.Held, &r.HeldAll, &r.Waiting, &r.Now)
		r.Limit.Rate.Per = micros(per)
		g.rooms[r.LimitKey], g.now = r, r.Now
		return err
	}), names, list)
	if err := p.send(ctx, q); err != nil || len(g.rooms) == 0 {
		return nil, err
	}
	return g, nil
}

// roomsOf are the rooms of what a start needs, nil for those that nothing bounds. any tells whether
// there is one.
func (g *limitGate) roomsOf(st *journal.Start) (rooms []*driver.LimitRoom, any bool) {
	for _, n := range st.Limits {
		r := g.rooms[driver.LimitKey{Name: n.Name, Key: n.Key}]
		rooms, any = append(rooms, r), any || r != nil
	}
	return rooms, any
}

// asks are those of the members that need a bounded limit and were not let in.
func (g *limitGate) asks(members []int) (list []int) {
	for _, i := range members {
		if _, any := g.roomsOf(&g.starts[i]); any {
			if _, before := g.came[i]; !before {
				list = append(list, i)
			}
		}
	}
	return list
}

// letIn returns the members without those that are refused. fresh are those that have found no run;
// they come in the caller's order.
func (g *limitGate) letIn(fresh, members []int) []int {
	fresh = slices.Clone(fresh)
	slices.Sort(fresh)
	ids := map[journal.RunID]bool{}
	for _, i := range fresh {
		st := &g.starts[i]
		if ids[st.ID] {
			continue
		}
		rooms, _ := g.roomsOf(st)
		a := driver.Arrive(st, rooms)
		if a.Err != nil {
			g.out[i] = journal.Started{Run: st.ID, Now: time.UnixMicro(g.now).UTC(), Err: a.Err}
			continue
		}
		ids[st.ID] = true
		a.Came(rooms)
		g.came[i] = a
	}
	return slices.DeleteFunc(slices.Clone(members), func(i int) bool { return g.out[i].Err != nil })
}

// cancel cancels what must go for those that were let in, and are there now: themselves, or the
// oldest of the keys that were full.
func (g *limitGate) cancel(ctx context.Context, q querier) error {
	newest := map[driver.LimitEnd][]journal.RunID{}
	oldest := map[driver.LimitKey]int{}
	by := map[driver.LimitKey]int{}
	for i, a := range g.came {
		if !g.out[i].Created {
			continue
		}
		if a.Newest != nil {
			g.out[i].Cancelled = append(g.out[i].Cancelled, g.out[i].Run)
			newest[*a.Newest] = append(newest[*a.Newest], g.out[i].Run)
		}
		for _, k := range a.Oldest {
			oldest[k]++
			by[k] = i
		}
	}
	for why, runs := range newest {
		if _, err := g.end(ctx, q, runs, &why); err != nil {
			return err
		}
	}
	keys := make([]driver.LimitKey, 0, len(oldest))
	for k := range oldest {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, driver.CompareLimitKeys)
	for _, k := range keys {
		why := driver.LimitEnd{LimitKey: k, MaxBacklog: g.rooms[k].Limit.MaxBacklog}
		for n := oldest[k]; n > 0; {
			first, err := g.oldest(ctx, q, k, n, g.out[by[k]].Run)
			if err != nil {
				return err
			}
			if len(first) == 0 { // all others have begun
				break
			}
			closed, err := g.end(ctx, q, first, &why) // a round may let some begin meanwhile
			if err != nil {
				return err
			}
			out := &g.out[by[k]]
			out.Cancelled = append(out.Cancelled, closed...)
			n -= len(first) - len(slices.DeleteFunc(slices.Clone(first), func(run journal.RunID) bool { return slices.Contains(closed, run) }))
		}
	}
	return nil
}

func (g *limitGate) oldest(ctx context.Context, q querier, k driver.LimitKey, n int, last journal.RunID) (runs []journal.RunID, err error) {
	var p pipeline
	p.query(g.s.sql.limit.full.oldest, each(func(row pgx.CollectableRow) error {
		var run pgtype.UUID
		err := row.Scan(&run)
		runs = append(runs, run.Bytes)
		return err
	}), k.Name, k.Key, n, uuidArg(last))
	return runs, p.send(ctx, q)
}

// end closes those of the runs that still wait when their tasks are locked, with what follows from
// it but the messages, and notes each in the audit (J12). It returns what it has closed.
//
// The locks are taken out of order in a commit, which has others already; see "Order of locks".
func (g *limitGate) end(ctx context.Context, q querier, ids []journal.RunID, why *driver.LimitEnd) (closed []journal.RunID, err error) {
	s := g.s
	var runs []journal.Run
	var waits []bool
	read := each(func(row pgx.CollectableRow) error {
		var run journal.Run
		var id, parent pgtype.UUID
		var generation, cmd *int32
		var policy *int16
		var waiting bool
		err := row.Scan(&id, &run.Workflow, &parent, &generation, &cmd, &policy, &waiting)
		if run.ID = id.Bytes; parent.Valid {
			run.Parent = parentOf(parent, generation, cmd, policy)
		}
		runs, waits = append(runs, run), append(waits, waiting)
		return err
	})
	var p pipeline
	p.query(s.sql.limit.full.family, read, runIDs(ids))
	if err := p.send(ctx, q); err != nil {
		return nil, err
	}
	var tasks []pgtype.UUID
	for i := range runs {
		tasks = append(tasks, withParent(&runs[i])...)
	}
	runs, waits, p = nil, nil, pipeline{}
	p.exec(s.sql.lockFamily, tasks, runIDs(ids))
	p.query(s.sql.limit.full.family, read, runIDs(ids))
	if err := p.send(ctx, q); err != nil {
		return nil, err
	}
	ending := runs[:0]
	for i := range runs {
		if waits[i] {
			ending = append(ending, runs[i])
			closed = append(closed, runs[i].ID)
		}
	}
	found, err := s.orphansOf(ctx, q, closed)
	if err != nil || len(closed) == 0 {
		return nil, err
	}
	p = pipeline{}
	end := journal.Event{Kind: journal.RunCancelled, Payload: why.Payload()}
	queueEnd(s, &p, closed, &end)
	var left []journal.RunID
	for i := range ending {
		left = append(left, found[i].terminated...)
		g.late = append(g.late, familyMessages(&ending[i], &end, &found[i])...)
		a := why.Action(ending[i].ID)
		p.exec(s.sql.admin.note, append(auditArgs(&a, ""), ending[i].Workflow)...)
	}
	g.owners(&p, left)
	queueOrphans(s, &p, left)
	return append(closed, left...), p.send(ctx, q)
}
