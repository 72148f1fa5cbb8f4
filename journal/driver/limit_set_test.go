package driver

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// worldSet is what a world keeps of a set and a line.
type worldSet struct {
	first        int64
	away, halted bool
	route        journal.Route
}

func (w *limitWorld) Heads(k LimitKey) (heads LimitHeads, err error) {
	for set, s := range w.sets[k] {
		if !s.away {
			heads.Sets = append(heads.Sets, LimitSet{Set: set, First: s.first, Route: s.route})
		}
	}
	slices.SortFunc(heads.Sets, func(a, b LimitSet) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Set, b.Set)) })
	heads.Sets = heads.Sets[:min(LimitHeadsMax, len(heads.Sets))]
	room := map[int64]int{0: LimitHeadsMax}
	for _, s := range heads.Sets {
		room[s.Set] = LimitSetHeads(len(heads.Sets))
	}
	var all []LimitHead
	for id, c := range w.wants {
		for i, n := range c.Needs {
			if n.Name == k.Name && n.Key == k.Key && c.granted.IsZero() {
				all = append(all, LimitHead{Node: 1, ID: id, Rank: c.ranks[i], Since: c.Since, Needs: c.Needs, Set: LimitSetOf(c.Needs, c.Route), Ranks: c.ranks})
			}
		}
	}
	slices.SortFunc(all, func(a, b LimitHead) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID)) })
	for _, h := range all {
		if room[h.Set] > 0 {
			room[h.Set]--
			heads.Claims = append(heads.Claims, h)
		}
	}
	return heads, nil
}

func (w *limitWorld) Halts() (func(journal.Route) bool, error) {
	return func(r journal.Route) bool { return w.halted[r] }, nil
}

func (w *limitWorld) Unhalt(halts func(journal.Route) bool, max int) (keys []LimitKey, err error) {
	for k, sets := range w.sets {
		for _, s := range sets {
			if s.halted && !halts(s.route) && len(keys) < max {
				s.away, s.halted = false, false
				keys = append(keys, k)
			}
		}
	}
	return keys, nil
}

func (w *limitWorld) writeSets(sets LimitSetWrites) {
	for _, lines := range w.sets {
		maps.DeleteFunc(lines, func(set int64, _ *worldSet) bool { return slices.Contains(sets.Gone, set) })
	}
	for _, e := range sets.Enter {
		if w.sets[e.LimitKey] == nil {
			w.sets[e.LimitKey] = map[int64]*worldSet{}
		}
		if s := w.sets[e.LimitKey][e.Set]; s != nil {
			s.first = min(s.first, e.First)
		} else {
			w.sets[e.LimitKey][e.Set] = &worldSet{first: e.First, route: e.Route}
		}
	}
	for _, m := range sets.Moves {
		if s := w.sets[m.LimitKey][m.Set]; s != nil {
			s.first, s.away, s.halted = max(s.first, m.First), m.Away, m.Halted
		}
	}
}
