package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// write adds what a round has changed.
func (x *limitRound) write(p *pipeline, ended []int64) error {
	x.begin(p)
	if lines := x.t.Lines(); len(lines) > 0 {
		var names, keys []string
		var held, waiting []int32
		var ready, served, look []int64
		var share []float64
		var open []bool
		for i := range lines {
			l := &lines[i]
			names, keys = append(names, l.Name), append(keys, l.Key)
			held, waiting = append(held, int32(l.Held)), append(waiting, int32(l.Waiting))
			ready, served = append(ready, l.Ready), append(served, l.Served)
			share, open, look = append(share, l.Share), append(open, l.Open), append(look, l.LookAt)
		}
		p.exec(x.s.sql.limit.lines, names, keys, held, waiting, ready, served, share, open, look)
	}
	x.arrive(p, ended)
	x.writeSets(p)
	if grants := x.t.Grants(); len(grants) > 0 {
		nodes, ids := make([]int32, len(grants)), make([]int64, len(grants))
		for i, g := range grants {
			nodes[i], ids[i] = int32(g.Node), g.ID
		}
		p.exec(x.s.sql.limit.grant, x.now, nodes, ids)
	}
	if inserts := x.t.Inserts(); len(inserts) > 0 {
		return x.insert(p, inserts)
	}
	return nil
}

// insert adds the wants of a round.
func (x *limitRound) insert(p *pipeline, inserts []*driver.LimitInsert) error {
	var ids, costs, ranks, sets []int64
	var parts, priorities []int16
	var names, keys, steps []string
	var since []time.Time
	var granted []bool
	var runs []pgtype.UUID
	var cmds []int32
	var needs []*string
	for _, in := range inserts {
		text, err := driver.EncodeLimitNeeds(in.Needs)
		if err != nil {
			return fmt.Errorf("limits of step %q of run %s: %w", in.Step, in.Run, err)
		}
		for part, n := range in.Needs {
			ids, costs, ranks = append(ids, in.ID), append(costs, n.Cost), append(ranks, in.Ranks[part])
			parts, priorities = append(parts, int16(part)), append(priorities, in.Priority)
			names, keys, steps = append(names, n.Name), append(keys, n.Key), append(steps, in.Step)
			since, granted = append(since, in.Since), append(granted, in.Granted)
			runs, cmds, needs = append(runs, uuidArg(in.Run)), append(cmds, int32(in.Cmd)), append(needs, nullText(text))
			sets = append(sets, in.Set)
		}
	}
	p.exec(x.s.sql.limit.insert, int32(x.m.id), x.now, ids, parts, names, keys, costs, ranks, since, granted, runs, cmds, steps, priorities, needs,
		sets)
	return nil
}

func limitArrays(list []driver.LimitKey) (names, keys []string) {
	for _, k := range list {
		names, keys = append(names, k.Name), append(keys, k.Key)
	}
	return names, keys
}

// scanLimitState reads a row of limitStateSQL. head is nil if nobody waits in the line.
func scanLimitState(row pgx.CollectableRow) (s limitState, head *driver.LimitHead, err error) {
	var concurrency, total, weight, held, waiting, node *int32
	var n, per, burst, ageing, ready, served, look, rated, id, rank, cost, set *int64
	var ranks []int64
	var run pgtype.UUID
	var open *bool
	var since pgtype.Timestamptz
	var needs *string
	err = row.Scan(&s.key.Name, &s.key.Key, &concurrency, &total, &n, &per, &burst, &weight, &ageing, &held, &waiting, &ready, &served, &open, &look, &rated,
		&node, &id, &rank, &since, &cost, &needs, &run, &set, &ranks)
	if err == nil && concurrency != nil {
		s.limit = &journal.Limit{
			Name: s.key.Name, Key: s.key.Key, Concurrency: int(*concurrency), Total: int(*total), Weight: int(*weight), Ageing: micros(*ageing),
			Rate: journal.Rate{N: *n, Per: micros(*per), Burst: *burst},
		}
	}
	if err == nil && held != nil {
		s.line = driver.LimitLine{Held: int(*held), Waiting: int(*waiting), Ready: *ready, Served: *served, Open: *open, LookAt: intOf[int64](look),
			Rated: *rated}
	}
	if err == nil && node != nil {
		head = &driver.LimitHead{Node: journal.NodeID(*node), ID: *id, Rank: *rank, Since: timeOf(since), Run: run.Bytes, Set: *set, Ranks: ranks}
		head.Needs, err = driver.DecodeLimitNeeds(textOf(needs), journal.LimitNeed{Name: s.key.Name, Key: s.key.Key, Cost: *cost})
	}
	return s, head, err
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// scanKnownClaim reads a row of limitOfNodeSQL.
func scanKnownClaim(row pgx.CollectableRow) (k driver.KnownClaim, err error) {
	var one journal.LimitNeed
	var needs *string
	if err = row.Scan(&k.ID, &k.Held, &one.Name, &one.Key, &one.Cost, &needs); err == nil {
		k.Needs, err = driver.DecodeLimitNeeds(textOf(needs), one)
	}
	return k, err
}

// begin adds what lets runs begin that the round has granted. It comes ahead of all writes to
// claims, as whoever closes a run has its task first.
func (x *limitRound) begin(p *pipeline) {
	if begun := x.t.Begun(); len(begun) > 0 {
		beginLimited(x.s, p, begun)
	}
}

// arrive adds what puts claims of runs into their lines, and takes those away that have ended.
func (x *limitRound) arrive(p *pipeline, ended []int64) {
	if arrivals := x.t.Arrivals(); len(arrivals) > 0 {
		var ids, ranks, sets []int64
		var parts, priorities []int16
		var granted []bool
		for _, in := range arrivals {
			for part, rank := range in.Ranks {
				ids, parts, ranks, granted = append(ids, in.ID), append(parts, int16(part)), append(ranks, rank), append(granted, in.Granted)
				priorities, sets = append(priorities, in.Priority), append(sets, in.Set)
			}
		}
		p.exec(x.s.sql.limit.runs.arrive, x.now, make([]int32, len(ids)), ids, parts, ranks, granted, priorities, sets)
	}
	if aside := x.t.Aside(); len(aside) > 0 {
		p.exec(x.s.sql.limit.runs.aside, make([]int32, len(aside)), aside)
	}
	if len(ended) > 0 {
		p.exec(x.s.sql.limit.remove, int32(0), ended)
	}
}
