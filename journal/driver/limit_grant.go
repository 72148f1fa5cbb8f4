package driver

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Grant says what the wants, and those that waited before, get. It is the order in which all of it
// applies; docs/limits.md works through an example, which is a test:
//
//  1. A claim begins only if each of its limits lets it: fewer are held of its key than
//     Concurrency, fewer of all keys than Total, and its rate allows the cost now. Else it waits,
//     and holds nothing.
//  2. Where keys compete, which is for a Total, the key is first that holds the least for its
//     weight, and of several the one that got something the longest time ago.
//  3. Within a key a claim is first by since, where each priority counts as Ageing later than the
//     one above it. A claim that the rate does not let begin keeps all behind it in its line
//     waiting; one that another of its limits keeps waiting lets them pass, behind limitPatience
//     only as keptAhead says.
func (t *LimitTable) Grant(wants []Want) {
	t.spread()
	t.enter(wants, t.Node, &t.inserts)
	for strict := true; ; {
		progress, deferred := t.pass(strict)
		if !deferred {
			break
		}
		strict = strict && progress // two that wait for each other in two lines: the next pass takes either
	}
	t.conclude()
}

// Arrive puts runs into their lines that a store knows and that no round has seen, ahead of Grant.
func (t *LimitTable) Arrive(wants []Want) {
	t.spread()
	t.enter(wants, 0, &t.arrivals)
}

// enter puts wants into their lines.
func (t *LimitTable) enter(wants []Want, node journal.NodeID, list *[]*LimitInsert) {
	for i := range wants {
		w := &wants[i]
		h := &head{LimitHead: LimitHead{Node: node, ID: w.ID, Since: w.Since, Run: w.Run, Needs: w.Needs, Set: LimitSetOf(w.Needs, w.Route)}}
		h.entered = &LimitInsert{Want: w, Ranks: make([]int64, len(w.Needs)), Set: h.Set}
		*list = append(*list, h.entered)
		for k, n := range w.Needs {
			l := t.lines[LimitKey{n.Name, n.Key}]
			p := place{l.rank(w), h}
			if h.entered.Ranks[k] = p.rank; !isHalted(t, w.Route) {
				l.put(p)
			}
		}
		for _, n := range w.Needs {
			l := t.lines[LimitKey{n.Name, n.Key}]
			l.Waiting, l.dirty = l.Waiting+1, true
			if node == 0 {
				l.LookAt = LookNever // conclude knows better
			}
			if l.limit == nil && !slices.Contains(t.answer.Unknown, n.Name) {
				t.answer.Unknown = append(t.answer.Unknown, n.Name)
			}
		}
		if w.Held {
			t.grant(h)
		}
	}
}

// verdict is what becomes of the first claim of a line.
type verdict int

const (
	begins   verdict = iota // it is granted
	passed                  // it waits, and those behind it may pass
	deferred                // as passed, and the next pass looks again
	stops                   // the line waits
)

// pass goes once through all lines, and tells whether it has granted anything, and whether there
// are claims to look at again. A strict pass grants a claim of several limits only when it is the
// first in each of its lines.
func (t *LimitTable) pass(strict bool) (progress, again bool) {
	q := make(lineHeap, 0, len(t.lines))
	for _, l := range t.lines {
		if l.next = 0; l.whole && !l.closed && l.first() != nil {
			q = append(q, l)
		}
	}
	heap.Init(&q)
	for q.Len() > 0 {
		l := q[0]
		h := l.first()
		v := stops
		if h != nil {
			v = t.verdict(l, h, strict)
		}
		switch v {
		case begins:
			t.grant(h)
			if progress = true; len(h.Needs) > 1 { // it has changed other lines, too
				heap.Init(&q)
				continue
			}
		case passed, deferred:
			l.next++
			again = again || v == deferred
		case stops:
			heap.Pop(&q)
			continue
		}
		heap.Fix(&q, 0)
	}
	return progress, again
}

// first is the first claim of the line that is not granted, nil for none.
func (l *tableLine) first() *head {
	for ; l.next < len(l.heads); l.next++ {
		if h := l.heads[l.next].head; !h.granted {
			return h
		}
	}
	return nil
}

func (t *LimitTable) verdict(l *tableLine, h *head, strict bool) verdict {
	if l.closed || l.stopped || !t.allows(l, costOf(h, l.key)) {
		return stops
	}
	if l.heads[l.next].rank > l.horizon {
		l.stopped = true
		return stops
	}
	waits, keeps := false, true
	for i, n := range h.Needs {
		k := LimitKey{n.Name, n.Key}
		other := t.lines[k]
		switch {
		case k == l.key:
		case other == nil: // its limit is busy
			t.answer.Again = append(t.answer.Again, k, l.key)
			l.retry, t.answer.Busy = true, true
			return passed
		case !t.allows(other, n.Cost) || other.closed:
			waits, keeps = true, keeps && l.keptAhead(other)
		case other.whole && (other.stopped || h.rankOf(i) > other.horizon): // others may be ahead there
			return passed
		case strict && other.whole && other.ahead(h):
			return deferred
		}
	}
	if waits && h.Set != 0 {
		t.passed[h.Set] = h
	}
	switch {
	case !waits:
		return begins
	case !keeps, t.Now.Sub(h.Since) < limitPatience:
		return passed
	}
	l.closed, l.keeper = true, h.Set
	return stops
}

// rankOf is the rank in the line of a need; lower than any for a claim of no set.
func (h *head) rankOf(need int) int64 {
	switch {
	case h.entered != nil:
		return h.entered.Ranks[need]
	case need < len(h.Ranks):
		return h.Ranks[need]
	}
	return math.MinInt64
}

// ahead tells whether others are ahead of a claim in the line that the present pass has not passed.
func (l *tableLine) ahead(h *head) bool {
	first := l.first()
	return first != nil && first != h
}

// grant gives a claim all that it needs.
func (t *LimitTable) grant(h *head) {
	now := t.Now.UnixMicro()
	h.granted = true
	for _, n := range h.Needs {
		l := t.lines[LimitKey{n.Name, n.Key}]
		l.Held, l.Waiting, l.dirty = l.Held+1, max(l.Waiting-1, 0), true
		t.moved[n.Name] = true
		l.took(h.Set)
		if l.limit != nil && !l.limit.Rate.IsZero() {
			l.take(now, n.Cost)
		}
		if total := t.lines[l.key.Total()]; total != nil {
			total.Held, total.dirty, l.Served = total.Held+1, true, now
			if !l.whole && l.Waiting > 0 && t.Now.Sub(h.Since) >= limitPatience {
				l.Open = true // the claim may have kept it from others
			}
		}
	}
	if h.entered != nil {
		h.entered.Granted = true
	} else {
		t.grants = append(t.grants, LimitGrant{h.Node, h.ID})
	}
	if h.Node == 0 {
		t.begun = append(t.begun, LimitBegin{h.Run, h.ID})
		t.answer.Runs++
	} else if h.Node == t.Node {
		t.answer.Granted = append(t.answer.Granted, h.ID)
	} else if !slices.Contains(t.answer.Others, h.Node) {
		t.answer.Others = append(t.answer.Others, h.Node)
	}
}

// lineHeap has the line first that is served first.
type lineHeap []*tableLine

func (q lineHeap) Len() int { return len(q) }

// Less implements heap.Interface. Lines of different limits do not compete: any order will do.
func (q lineHeap) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(a.share(), b.share()), cmp.Compare(a.Served, b.Served), cmp.Compare(a.headRank(), b.headRank()),
		a.key.compare(b.key)) < 0
}

func (l *tableLine) headRank() int64 {
	if l.first() == nil {
		return 0
	}
	return l.heads[l.next].rank
}

func (q lineHeap) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface. Nothing is pushed: a line that goes on is moved.
func (q *lineHeap) Push(any) { panic("driver: a line is pushed") }

// Pop implements heap.Interface.
func (q *lineHeap) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// LimitLineWrite is a line as it is to be stored.
type LimitLineWrite struct {
	LimitKey
	LimitLine
	Share float64 // of a limit with a Total, else 0
}

// Lines are the lines that have changed, sorted.
func (t *LimitTable) Lines() (list []LimitLineWrite) {
	for _, l := range t.lines {
		if !l.dirty {
			continue
		}
		w := LimitLineWrite{LimitKey: l.key, LimitLine: l.LimitLine}
		if t.total(l.key.Name) > 0 && l.key.Key != totalKey {
			w.Share = l.share()
		} else {
			w.Served = 0 // so that the row of a line keeps what is indexed of it
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b LimitLineWrite) int { return a.LimitKey.compare(b.LimitKey) })
	return list
}

// Idle tells whether the line says no more than a line that is not stored.
func (w *LimitLineWrite) Idle(now time.Time) bool {
	return w.Held == 0 && w.Waiting == 0 && w.LookAt == 0 && w.Ready <= now.UnixMicro()
}

// Grants are the stored claims that are granted.
func (t *LimitTable) Grants() []LimitGrant { return t.grants }

// Inserts are the wants of the round, to be stored.
func (t *LimitTable) Inserts() []*LimitInsert { return t.inserts }

// Arrivals are the claims of runs that have come into their lines, to be stored as such, with the
// rank in each.
func (t *LimitTable) Arrivals() []*LimitInsert { return t.arrivals }

// Aside are the claims of runs that have left their lines because the runs are paused, to be stored
// as such that are in none.
func (t *LimitTable) Aside() []int64 { return t.aside }

// Begun are the runs that have got all of their limits: their tasks are Ready and due, if nothing
// else holds them.
func (t *LimitTable) Begun() []LimitBegin { return t.begun }

// Answer is the answer to the round.
func (t *LimitTable) Answer() LimitAnswer { return t.answer }
