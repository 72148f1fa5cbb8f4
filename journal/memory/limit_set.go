package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitSets are the sets of claims that need the same lines, by each of these.
type limitSets map[setOfLine]setState

type setOfLine struct {
	set int64
	driver.LimitKey
}

type setState struct {
	first  int64
	away   bool
	halted bool
	route  journal.Route
}

// of are the sets in the list of a line.
func (s limitSets) of(k driver.LimitKey) (list []driver.LimitSet) {
	for at, state := range s {
		if at.LimitKey == k && !state.away {
			list = append(list, driver.LimitSet{Set: at.set, First: state.first, Route: state.route})
		}
	}
	slices.SortFunc(list, func(a, b driver.LimitSet) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Set, b.Set))
	})
	return list[:min(driver.LimitHeadsMax, len(list))]
}

// lower makes the First of a stored line no higher than a rank.
func (s limitSets) lower(at setOfLine, rank int64) {
	if state, stored := s[at]; stored && state.first > rank {
		state.first = rank
		s[at] = state
	}
}

// write writes what a round says of sets. waits tells whether a claim of one waits.
func (s limitSets) write(w driver.LimitSetWrites, waits func(set int64) bool) {
	if len(w.Gone) > 0 {
		maps.DeleteFunc(s, func(at setOfLine, _ setState) bool { return slices.Contains(w.Gone, at.set) })
	}
	for _, e := range w.Enter {
		at := setOfLine{e.Set, e.LimitKey}
		if _, stored := s[at]; !stored {
			s[at] = setState{first: e.First, route: e.Route}
		}
		s.lower(at, e.First)
	}
	for _, m := range w.Moves {
		at := setOfLine{m.Set, m.LimitKey}
		if state, stored := s[at]; stored {
			state.first, state.away, state.halted = max(state.first, m.First), m.Away, m.Halted
			s[at] = state
		}
	}
	for _, set := range w.Left {
		if !waits(set) {
			maps.DeleteFunc(s, func(at setOfLine, _ setState) bool { return at.set == set })
		}
	}
}

// setWaits tells whether a claim of a set waits in its lines.
func (l *limits) setWaits(set int64) bool {
	for _, c := range l.claims {
		if c.set == set && c.granted.IsZero() && !c.ended && (c.counted || c.Route == journal.Route{}) {
			return true
		}
	}
	return false
}

// Halts implements driver.LimitRows.
func (l *limits) Halts() (func(r journal.Route) bool, error) { return l.halts, nil }

// Unhalt implements driver.LimitRows.
func (l *limits) Unhalt(halts func(r journal.Route) bool, max int) (keys []driver.LimitKey, err error) {
	var back []setOfLine
	for at, state := range l.sets {
		if state.halted && !halts(state.route) {
			back = append(back, at)
		}
	}
	slices.SortFunc(back, func(a, b setOfLine) int {
		return cmp.Or(cmp.Compare(l.sets[a].first, l.sets[b].first), cmp.Compare(a.set, b.set), driver.CompareLimitKeys(a.LimitKey, b.LimitKey))
	})
	for _, at := range back[:min(max, len(back))] {
		state := l.sets[at]
		state.away, state.halted = false, false
		l.sets[at] = state
		keys = append(keys, at.LimitKey)
	}
	return keys, nil
}

// Heads implements driver.LimitRows.
func (l *limits) Heads(k driver.LimitKey) (heads driver.LimitHeads, err error) {
	heads.Sets = l.sets.of(k)
	room := map[int64]int{0: driver.LimitHeadsMax}
	for _, s := range heads.Sets {
		room[s.Set] = driver.LimitSetHeads(len(heads.Sets))
	}
	line := l.lines[k]
	if line == nil {
		return heads, nil
	}
	for _, p := range line.waiting {
		if c := l.claims[p.LimitGrant]; !c.ended && !c.paused && room[c.set] > 0 {
			room[c.set]--
			heads.Claims = append(heads.Claims, driver.LimitHead{Node: p.Node, ID: p.ID, Rank: p.rank, Since: c.Since, Run: c.Run, Needs: c.Needs,
				Set: c.set, Ranks: c.ranks})
		}
	}
	return heads, nil
}
