package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
)

// readSets reads the sets that lines list.
func (x *limitRound) readSets(p *pipeline, names, keys []string, max int) {
	p.query(x.s.sql.limit.sets.list, each(func(row pgx.CollectableRow) error {
		var k driver.LimitKey
		var s driver.LimitSet
		err := row.Scan(&k.Name, &k.Key, &s.Set, &s.First, &s.Route.Queue, &s.Route.Workflow, &s.Route.Version)
		heads := x.heads[k]
		heads.Sets = append(heads.Sets, s)
		x.heads[k] = heads
		return err
	}), names, keys, max)
}

// writeSets adds what a round has changed of sets.
func (x *limitRound) writeSets(p *pipeline) {
	w := x.t.Sets()
	if len(w.Gone) > 0 {
		p.exec(x.s.sql.limit.sets.gone, w.Gone)
	}
	if len(w.Enter) > 0 {
		a := arraysOfSets(w.Enter)
		p.exec(x.s.sql.limit.sets.enter, a.sets, a.names, a.keys, a.firsts, a.queues, a.workflows, a.versions)
	}
	if len(w.Moves) > 0 {
		a := arraysOfSets(w.Moves)
		p.exec(x.s.sql.limit.sets.move, a.sets, a.names, a.keys, a.firsts, a.away, a.halted)
	}
	if len(w.Left) > 0 {
		p.exec(x.s.sql.limit.sets.left, w.Left)
	}
}

// setArrays are lines of sets as columns.
type setArrays struct {
	sets, firsts      []int64
	names, keys       []string
	queues, workflows []string
	versions          []int32
	away, halted      []bool
}

func arraysOfSets(list []driver.LimitSetLine) (a setArrays) {
	for i := range list {
		l := &list[i]
		a.sets, a.names, a.keys, a.firsts = append(a.sets, l.Set), append(a.names, l.Name), append(a.keys, l.Key), append(a.firsts, l.First)
		a.queues, a.workflows = append(a.queues, l.Route.Queue), append(a.workflows, l.Route.Workflow)
		a.versions = append(a.versions, l.Route.Version)
		a.away, a.halted = append(a.away, l.Away), append(a.halted, l.Halted)
	}
	return a
}
