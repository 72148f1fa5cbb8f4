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

// limitRound is a round of a node, in its transaction. It takes two round trips: one that locks and
// reads, and one that writes what driver.LimitTable says. What has come while it waited for the
// locks takes one between them. Limits with a total, and claims of several limits that wait, take
// more.
type limitRound struct {
	s     *Store
	m     *member
	r     *driver.LimitRound
	t     *driver.LimitTable
	alive bool
	now   time.Time

	states []limitState
	heads  map[driver.LimitKey]driver.LimitHeads
	freed  []driver.Freed
	known  []int64
	runs   limitRuns
	halts  limitHalts
}

// limitState is a row of limitStateSQL.
type limitState struct {
	key   driver.LimitKey
	limit *journal.Limit
	line  driver.LimitLine
}

// Limits implements driver.Membership.
func (m *member) Limits(ctx context.Context, r driver.LimitRound) (a driver.LimitAnswer, err error) {
	first := &limitRound{s: m.s, m: m, r: &r}
	if idle, a, err := first.nothing(ctx); idle || err != nil {
		return a, err
	}
	err = m.s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		x := &limitRound{s: m.s, m: m, r: &r, halts: first.halts, runs: limitRuns{keys: first.runs.keys, more: first.runs.more, back: first.runs.back}}
		a, err = x.do(ctx, c)
		return err
	})
	if err != nil {
		return driver.LimitAnswer{}, err
	}
	return a, nil
}

func (x *limitRound) do(ctx context.Context, c *pgx.Conn) (driver.LimitAnswer, error) {
	keys := append(x.r.Keys(), x.runs.keys...)
	slices.SortFunc(keys, driver.CompareLimitKeys)
	keys = slices.Compact(keys)
	names := driver.LimitNames(keys)
	var p pipeline
	p.exec(beginSQL)
	p.exec(holdSQL)
	p.exec(appendShareSQL, x.s.exclude.class, int32(x.m.id))
	if len(names) > 0 {
		x.s.limitLocks.take(&p, names)
	}
	p.query(x.s.sql.limit.member, each(func(row pgx.CollectableRow) error {
		return row.Scan(&x.alive, &x.now)
	}), int32(x.m.id), x.m.me())
	x.remove(&p, x.r.Releases)
	x.recall(&p)
	if x.r.Runs {
		x.runs.read(x.s, &p)
	}
	if len(x.runs.back) > 0 {
		a := arraysOfSets(x.runs.back)
		p.exec(x.s.sql.limit.sets.unhalt, a.sets, a.names, a.keys)
	}
	if len(names) > 0 {
		x.read(&p, withDefaults(keys, names), driver.LimitHeadsMax)
	}
	if err := p.send(ctx, c); err != nil {
		return driver.LimitAnswer{}, err
	}
	if !x.alive {
		return driver.LimitAnswer{}, x.m.lost()
	}
	x.t = driver.NewLimitTable(x.m.id, x.now)
	if err := x.add(ctx, c, keys, true); err != nil {
		return driver.LimitAnswer{}, err
	}
	if err := x.gather(ctx, c); err != nil {
		return driver.LimitAnswer{}, err
	}
	if err := x.more(ctx, c, names); err != nil {
		return driver.LimitAnswer{}, err
	}
	for i := range x.freed {
		x.t.Free(x.freed[i])
	}
	arrived, ended := x.t.TakeIn(x.runs.news)
	x.t.Arrive(arrived)
	x.t.Grant(x.fresh())
	a := x.t.Answer()
	p = pipeline{}
	if err := x.write(&p, ended); err != nil {
		return a, err
	}
	if x.r.Runs {
		x.runs.queueNext(x.s, &p)
	}
	if x.r.Held || x.r.Compare {
		p.query(x.s.sql.limit.ofNode, each(func(row pgx.CollectableRow) error {
			k, err := scanKnownClaim(row)
			a.Claims = append(a.Claims, k)
			return err
		}), int32(x.m.id), x.r.Compare)
	}
	p.exec(endSQL)
	err := p.send(ctx, c)
	a.More, a.Next = x.runs.more, x.runs.next
	return a, err
}

// gather takes in what has come since the round was made. Of the lines that it is about those are
// read that were not.
func (x *limitRound) gather(ctx context.Context, c *pgx.Conn) error {
	size, releases := x.r.Size(), len(x.r.Releases)
	if err := x.r.Gather(); err != nil || x.r.Size() == size {
		return err
	}
	var p pipeline
	x.remove(&p, x.r.Releases[releases:])
	keys := slices.DeleteFunc(x.r.Keys(), x.t.Has)
	if len(keys) > 0 {
		x.read(&p, keys, driver.LimitHeadsMax)
	}
	if err := p.send(ctx, c); err != nil {
		return err
	}
	for i := range x.r.Releases[releases:] {
		x.t.Drop(x.r.Releases[releases+i].ID)
	}
	if len(keys) > 0 {
		return x.add(ctx, c, keys, true)
	}
	return nil
}

// withDefaults are keys with the rows that are for all keys of their limits, and the totals.
func withDefaults(keys []driver.LimitKey, names []string) []driver.LimitKey {
	all := slices.Clone(keys)
	for _, name := range names {
		all = append(all, driver.LimitKey{Name: name}, driver.LimitKey{Name: name}.Total())
	}
	slices.SortFunc(all, driver.CompareLimitKeys)
	return slices.Compact(all)
}

// remove takes away what the node has released.
func (x *limitRound) remove(p *pipeline, releases []driver.LimitRelease) {
	if len(releases) > 0 {
		ids := make([]int64, len(releases))
		byID := make(map[int64]*driver.LimitRelease, len(ids))
		for i := range releases {
			ids[i] = releases[i].ID
			byID[ids[i]] = &releases[i]
		}
		p.query(x.s.sql.limit.remove, each(func(row pgx.CollectableRow) error {
			var f driver.Freed
			var id int64
			var granted pgtype.Timestamptz
			err := row.Scan(&id, &f.Name, &f.Key, &f.Cost, &granted)
			f.Granted, f.Used = timeOf(granted), byID[id].Used(f.LimitKey, f.Cost)
			x.freed = append(x.freed, f)
			return err
		}), int32(x.m.id), ids)
	}
}

// recall finds the wants of a round that may be a repeated one.
func (x *limitRound) recall(p *pipeline) {
	if x.r.MayKnow() && len(x.r.Wants) > 0 {
		ids := make([]int64, len(x.r.Wants))
		for i := range x.r.Wants {
			ids[i] = x.r.Wants[i].ID
		}
		p.query(x.s.sql.limit.known, each(func(row pgx.CollectableRow) error {
			var id int64
			err := row.Scan(&id)
			x.known = append(x.known, id)
			return err
		}), int32(x.m.id), ids)
	}
}

// read reads lines, and up to heads of those who wait first in them.
func (x *limitRound) read(p *pipeline, states []driver.LimitKey, heads int) {
	x.states, x.heads = nil, map[driver.LimitKey]driver.LimitHeads{}
	names, keys := limitArrays(states)
	p.query(x.s.sql.limit.state, each(func(row pgx.CollectableRow) error {
		s, h, err := scanLimitState(row)
		if n := len(x.states); n == 0 || x.states[n-1].key != s.key {
			x.states = append(x.states, s)
		}
		if h != nil {
			first := x.heads[s.key]
			first.Claims = append(first.Claims, *h)
			x.heads[s.key] = first
		}
		return err
	}), names, keys, heads)
	if heads > 0 {
		x.readSets(p, names, keys, heads)
	}
}

// add puts what was read into the table: the rows of limits first, then the lines. whole says that
// the lines of the keys have their heads.
func (x *limitRound) add(ctx context.Context, c *pgx.Conn, keys []driver.LimitKey, whole bool) error {
	if err := x.halting(ctx, c); err != nil {
		return err
	}
	x.t.SetHalts(x.halts.halts)
	for i := range x.states {
		if l := x.states[i].limit; l != nil {
			x.t.AddLimit(*l)
		}
	}
	for i := range x.states {
		s := &x.states[i]
		_, asked := slices.BinarySearchFunc(keys, s.key, driver.CompareLimitKeys)
		total := s.key == s.key.Total()
		if asked || total && len(x.t.Totals([]string{s.key.Name})) > 0 {
			x.t.AddLine(s.key, s.line, x.heads[s.key], whole && !total)
		}
	}
	return nil
}

// more adds the lines that wait for the same totals, and lines that those who wait first need
// beside. Limits of these that somebody else has locked are busy.
func (x *limitRound) more(ctx context.Context, c *pgx.Conn, names []string) error {
	if totals := x.t.Totals(names); len(totals) > 0 {
		var open []driver.LimitKey
		list, _ := limitArrays(totals)
		var p pipeline
		p.query(x.s.sql.limit.open, each(func(row pgx.CollectableRow) error {
			var k driver.LimitKey
			err := row.Scan(&k.Name, &k.Key)
			open = append(open, k)
			return err
		}), list, driver.LimitHeadsMax)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		for _, total := range totals {
			n := 0
			for _, k := range open {
				if k.Name == total.Name {
					n++
				}
			}
			x.t.SetOpened(total.Name, n)
		}
		if open = slices.DeleteFunc(open, x.t.Has); len(open) > 0 {
			if err := x.readMore(ctx, c, open, true); err != nil {
				return err
			}
		}
	}
	missing := x.t.Missing()
	if len(missing) == 0 {
		return nil
	}
	others := driver.LimitNames(missing)
	others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(names, name) })
	if len(others) > 0 {
		var got []int32
		var p pipeline
		p.query(x.s.sql.limit.try, each(func(row pgx.CollectableRow) error {
			var hash int32
			err := row.Scan(&hash)
			got = append(got, hash)
			return err
		}), x.s.limitLocks.class, limitHashes(others))
		if err := p.send(ctx, c); err != nil {
			return err
		}
		for _, name := range others {
			if !slices.Contains(got, limitHashes([]string{name})[0]) {
				x.t.SetBusy(name)
			}
		}
		missing = x.t.Missing()
	}
	return x.readMore(ctx, c, missing, false)
}

func (x *limitRound) readMore(ctx context.Context, c *pgx.Conn, keys []driver.LimitKey, whole bool) error {
	slices.SortFunc(keys, driver.CompareLimitKeys)
	var p pipeline
	heads := 0
	if whole {
		heads = driver.LimitHeadsMax
	}
	x.read(&p, withDefaults(keys, driver.LimitNames(keys)), heads)
	if err := p.send(ctx, c); err != nil {
		return err
	}
	return x.add(ctx, c, keys, whole)
}

// fresh are the wants that the store does not know.
func (x *limitRound) fresh() []driver.Want {
	if len(x.known) == 0 {
		return x.r.Wants
	}
	return slices.DeleteFunc(slices.Clone(x.r.Wants), func(w driver.Want) bool { return slices.Contains(x.known, w.ID) })
}

// nothing tells whether a round that was asked to take in what is new of runs need not be made, and
// what it answers then.
func (x *limitRound) nothing(ctx context.Context) (idle bool, a driver.LimitAnswer, err error) {
	if !x.r.Runs {
		return false, a, nil
	}
	alive := false
	err = x.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		a = driver.LimitAnswer{}
		var p pipeline
		p.query(x.s.sql.limit.member, each(func(row pgx.CollectableRow) error { return row.Scan(&alive, &a.Now) }), int32(x.m.id), x.m.me())
		x.runs.due(x.s, &p)
		x.halts.read(x.s, &p)
		var halted []journal.Route
		p.query(x.s.sql.limit.sets.halted, each(func(row pgx.CollectableRow) error {
			var r journal.Route
			err := row.Scan(&r.Queue, &r.Workflow, &r.Version)
			halted = append(halted, r)
			return err
		}), driver.LimitHaltedMax)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		if err := x.halts.know(ctx, x.s, c); err != nil {
			return err
		}
		return x.runs.dueBack(ctx, x.s, c, halted, x.halts.halts)
	})
	if err == nil && !alive {
		err = x.m.lost()
	}
	a.Now, a.Next = a.Now.UTC(), x.runs.next
	return len(x.runs.keys) == 0 && x.r.Size() == 0 && !x.r.Held && !x.r.Compare, a, err
}

// halting finds out which routes are halted, if the lists of lines that were read have runs and it
// is not known yet.
func (x *limitRound) halting(ctx context.Context, q querier) error {
	if x.halts.halts != nil {
		return nil
	}
	for _, heads := range x.heads {
		for _, s := range heads.Sets {
			if (s.Route == journal.Route{}) {
				continue
			}
			var p pipeline
			x.halts.read(x.s, &p)
			if err := p.send(ctx, q); err != nil {
				return err
			}
			return x.halts.know(ctx, x.s, q)
		}
	}
	return nil
}
