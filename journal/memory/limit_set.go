package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal/driver"
)

// limitSets are the sets of claims that need the same lines, by each of these.
type limitSets map[setOfLine]setState

type setOfLine struct {
	set int64
	driver.LimitKey
}

type setState struct {
	first int64
	away  bool
}

// of are the sets in the list of a line.
func (s limitSets) of(k driver.LimitKey) (list []driver.LimitSet) {
	for at, state := range s {
		if at.LimitKey == k && !state.away {
			list = append(list, driver.LimitSet{Set: at.set, First: state.first})
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

func (s limitSets) write(w driver.LimitSetWrites) {
	if len(w.Gone) > 0 {
		maps.DeleteFunc(s, func(at setOfLine, _ setState) bool { return slices.Contains(w.Gone, at.set) })
	}
	for _, e := range w.Enter {
		at := setOfLine{e.Set, e.LimitKey}
		if _, stored := s[at]; !stored {
			s[at] = setState{first: e.First}
		}
		s.lower(at, e.First)
	}
	for _, m := range w.Moves {
		at := setOfLine{m.Set, m.LimitKey}
		if state, stored := s[at]; stored {
			s[at] = setState{first: max(state.first, m.First), away: m.Away}
		}
	}
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
