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
		err := row.Scan(&k.Name, &k.Key, &s.Set, &s.First)
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
		sets, names, keys, firsts, _ := setArrays(w.Enter)
		p.exec(x.s.sql.limit.sets.enter, sets, names, keys, firsts)
	}
	if len(w.Moves) > 0 {
		sets, names, keys, firsts, away := setArrays(w.Moves)
		p.exec(x.s.sql.limit.sets.move, sets, names, keys, firsts, away)
	}
}

func setArrays(list []driver.LimitSetLine) (sets []int64, names, keys []string, firsts []int64, away []bool) {
	for i := range list {
		l := &list[i]
		sets, names, keys = append(sets, l.Set), append(names, l.Name), append(keys, l.Key)
		firsts, away = append(firsts, l.First), append(away, l.Away)
	}
	return sets, names, keys, firsts, away
}
