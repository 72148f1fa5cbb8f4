package driver

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// Claims of several limits wait as sets: all claims that need the same lines are a set, with a
// number that follows from these lines. A line lists the sets that a round must look at in it, and
// a round reads the first claims of these and the first claims that need the line alone. A set that
// another of its lines holds up is away from the line: no round finds it there, however many claims
// it has, so whoever comes behind it is found at once. It is in the list of every line that holds
// it up, where the next round that could let it begin finds it. A set moves as a whole, by a row
// for each of its lines, so the cost of a move does not depend on how many wait.
//
// The invariant is: a set of which claims wait is in the list of each line that holds up its first
// claim, or it is in the list of a line at which a round will look at once. Rounds alone move sets,
// with the locks of all lines of the set. What a list says too much costs a look.

// LimitSetOf is the number of the set of a claim by its needs, and of a run by its route; 0 for a
// claim of one limit that no run has.
func LimitSetOf(needs []journal.LimitNeed, route journal.Route) int64 {
	ofRun := route != journal.Route{}
	if len(needs) < 2 && !ofRun {
		return 0
	}
	keys := make([]LimitKey, 0, len(needs))
	for _, n := range needs {
		keys = append(keys, LimitKey{n.Name, n.Key})
	}
	slices.SortFunc(keys, LimitKey.compare)
	var text []byte
	for _, k := range keys {
		for _, part := range []string{k.Name, k.Key} {
			text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
		}
	}
	if ofRun {
		text = append(binary.AppendVarint(text, int64(route.Version)), route.Queue+"\x00"+route.Workflow...)
	}
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8]) | 1)
}

// LimitSet is a set in the list of a line.
type LimitSet struct {
	Set   int64
	First int64         // no claim of the set has a lower rank in the line
	Route journal.Route // of the runs; zero for steps, and for what an older release has stored
}

// LimitSetLine is what a store keeps of a set and one of its lines.
type LimitSetLine struct {
	LimitKey
	LimitSet
	Away   bool // not in the list of the line
	Halted bool // away until a node may begin runs of the route
}

// LimitSetWrites is what a round changes of sets, to be written in this order.
type LimitSetWrites struct {
	Gone []int64 // sets of which no claim waits: all of their lines are forgotten
	// Enter are lines in which claims of sets have come to wait: a line that is not stored is made,
	// not away, and a First that is higher is lowered.
	Enter []LimitSetLine
	// Moves are stored lines of which Away and Halted are set, and a First that is lower is raised.
	Moves []LimitSetLine
	// Left are sets that a claim has left. One of which no claim waits is forgotten. This comes
	// behind what the round writes of claims.
	Left []int64
}

// LimitHeads is who waits first in a line: the sets that the line lists, by First, up to
// LimitHeadsMax; and the first claims, in any order: up to LimitHeadsMax of no set, and up to
// LimitSetHeads of each listed set.
type LimitHeads struct {
	Sets   []LimitSet
	Claims []LimitHead
}

// spread puts claims of sets into all lines of the table, also into those from which their sets are
// away: what becomes free in several lines at once goes by the order of each.
func (t *LimitTable) spread() {
	if t.isSpread {
		return
	}
	t.isSpread = true
	for _, h := range t.heads {
		for i, n := range h.Needs {
			if l := t.lines[LimitKey{n.Name, n.Key}]; l != nil && l.whole && i < len(h.Ranks) {
				l.put(place{h.Ranks[i], h})
			}
		}
	}
}

// settleSets says where the sets wait that the round has passed.
func (t *LimitTable) settleSets() {
	entered := t.enterSets()
	sets := make([]int64, 0, len(t.passed))
	for set := range t.passed {
		sets = append(sets, set)
	}
	slices.Sort(sets)
	for _, set := range sets {
		if h := t.firstOf(t.passed[set]); h != nil {
			t.moveSet(h, entered[set])
		}
	}
	for _, l := range t.lines {
		if l.whole {
			t.reviewSets(l, entered)
		}
	}
	for _, list := range []*[]int64{&t.sets.Gone, &t.sets.Left} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(t.sets.Enter, LimitSetLine.compare)
	slices.SortFunc(t.sets.Moves, LimitSetLine.compare)
}

func (l LimitSetLine) compare(o LimitSetLine) int {
	return cmp.Or(cmp.Compare(l.Set, o.Set), l.LimitKey.compare(o.LimitKey))
}

// enterSets notes the sets of which claims have come to wait.
func (t *LimitTable) enterSets() (entered map[int64]bool) {
	entered = map[int64]bool{}
	firsts := map[LimitSetLine]int64{} // by line and set
	for _, list := range [][]*LimitInsert{t.inserts, t.arrivals} {
		for _, in := range list {
			if in.Granted || in.Set == 0 {
				continue
			}
			entered[in.Set] = true
			for i, n := range in.Needs {
				k := LimitSetLine{LimitKey: LimitKey{n.Name, n.Key}, LimitSet: LimitSet{Set: in.Set, Route: in.Route}}
				if first, has := firsts[k]; !has || in.Ranks[i] < first {
					firsts[k] = in.Ranks[i]
				}
			}
		}
	}
	for k, first := range firsts {
		known := slices.ContainsFunc(t.lines[k.LimitKey].sets, func(s LimitSet) bool { return s.Set == k.Set && s.First <= first })
		if k.First = first; !known {
			t.sets.Enter = append(t.sets.Enter, k)
		}
		if isHalted(t, k.Route) {
			halt(t, k.LimitKey, k.LimitSet)
		}
	}
	return entered
}

// firstOf is the first claim of a claim's set that waits, as far as it is in the table.
func (t *LimitTable) firstOf(h *head) *head {
	for _, n := range h.Needs {
		l := t.lines[LimitKey{n.Name, n.Key}]
		for i := 0; l != nil && i < len(l.heads); i++ {
			if p := l.heads[i]; p.Set == h.Set && !p.granted {
				return p.head
			}
		}
	}
	return nil
}

// moveSet says where the set of a claim waits, which is its first: in each line that holds the
// claim up, and in lines that it keeps.
func (t *LimitTable) moveSet(h *head, entered bool) {
	var blocking []*tableLine
	for _, n := range h.Needs {
		l := t.lines[LimitKey{n.Name, n.Key}]
		if l == nil { // its limit is busy
			return
		}
		if !t.allows(l, n.Cost) || l.closed && l.keeper != h.Set {
			blocking = append(blocking, l)
		}
	}
	if len(blocking) == 0 {
		return
	}
	for _, n := range h.Needs {
		l := t.lines[LimitKey{n.Name, n.Key}]
		away := !slices.Contains(blocking, l)
		if away && t.Now.Sub(h.Since) >= limitPatience {
			away = slices.ContainsFunc(blocking, func(other *tableLine) bool { return !l.keptAhead(other) })
		}
		known := l.whole && !entered && (l.lists(h.Set) || l.listed < LimitHeadsMax)
		if !known || l.lists(h.Set) == away {
			t.sets.Moves = append(t.sets.Moves, LimitSetLine{LimitKey: l.key, LimitSet: LimitSet{Set: h.Set, First: math.MinInt64}, Away: away})
		}
		if !l.whole {
			if !away && (l.gained == nil || l.due(n.Cost) < l.due(costOf(l.gained, l.key))) {
				l.gained = h
			}
			continue
		}
		l.away[h.Set] = away
	}
}

// reviewSets forgets sets of the line of which no claim waits. In a line that lists so many that
// not all of them are read, it says where those begin that were read.
func (t *LimitTable) reviewSets(l *tableLine, entered map[int64]bool) {
	firsts := map[int64]int64{}
	for i := len(l.heads) - 1; i >= 0; i-- {
		if p := l.heads[i]; !p.granted {
			firsts[p.Set] = p.rank
		}
	}
	for _, s := range l.sets {
		first, waits := firsts[s.Set]
		if last, cut := l.cut[s.Set]; !waits && cut {
			first, waits = last.rank, true
		}
		if !waits && !entered[s.Set] {
			t.sets.Gone = append(t.sets.Gone, s.Set)
		} else if waits && l.listed >= LimitHeadsMax && first > s.First {
			t.raise(LimitSetLine{LimitKey: l.key, LimitSet: LimitSet{Set: s.Set, First: first}})
		}
	}
}

// raise raises the First of a line, with a move of it if there is one.
func (t *LimitTable) raise(w LimitSetLine) {
	for i := range t.sets.Moves {
		if m := &t.sets.Moves[i]; m.LimitKey == w.LimitKey && m.Set == w.Set {
			m.First = w.First
			return
		}
	}
	t.sets.Moves = append(t.sets.Moves, w)
}

// Sets is what the round has changed of sets.
func (t *LimitTable) Sets() LimitSetWrites { return t.sets }
