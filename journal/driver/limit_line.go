package driver

import (
	"cmp"
	"slices"
	"time"
)

// limitPatience is how long a claim of several limits lets others pass. One that has waited for so
// long keeps what becomes free of its limits from all behind it until it has got them: else others
// that need one of them each could keep it waiting for ever. It keeps them one after the other, see
// keptAhead, and not whichever is free: a key with a long backlog, whose first claim is always an
// old one, would else keep a limit that all keys share while its own is used up.
const limitPatience = 10 * time.Second

// allows tells whether the line may give out one more claim of a cost.
func (t *LimitTable) allows(l *tableLine, cost int64) bool {
	if l.limit != nil && l.limit.Concurrency > 0 && l.Held >= l.limit.Concurrency {
		return false
	}
	if total := t.total(l.key.Name); total > 0 && t.lines[l.key.Total()].Held >= total {
		return false
	}
	return l.due(cost) <= t.Now.UnixMicro()
}

// free tells whether the Concurrency of the line allows one more claim.
func (l *tableLine) free() bool {
	return l.limit == nil || l.limit.Concurrency == 0 || l.Held < l.limit.Concurrency
}

// keptAhead tells whether a claim that needs both keeps this line while it waits for the other, and
// not the other one while it waits for this. So it has the first before it keeps the second, and
// gets all of them. The line goes first that keeps fewer others waiting: that of a key ahead of one
// for all, then the shorter one.
func (l *tableLine) keptAhead(other *tableLine) bool {
	shared := func(l *tableLine) int {
		if l.key.Key == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(shared(l), shared(other)), cmp.Compare(l.Waiting, other.Waiting), l.key.compare(other.key)) < 0
}

// lists tells whether the list of the line, as it was read, has the set.
func (l *tableLine) lists(set int64) bool {
	return slices.ContainsFunc(l.sets, func(s LimitSet) bool { return s.Set == set })
}

// waiter is the first claim that is in the line to stay: not granted, and not of a set that is
// away.
func (l *tableLine) waiter() *head {
	for _, p := range l.heads {
		if !p.granted && !l.isAway(p.head) {
			return p.head
		}
	}
	return nil
}

// isAway tells whether the set of a claim is away from the line. A set of which a claim has come
// counts as being there: the store knows.
func (l *tableLine) isAway(h *head) bool {
	if h.Set == 0 {
		return false
	}
	if away, decided := l.away[h.Set]; decided {
		return away
	}
	return h.entered == nil && !l.lists(h.Set)
}

// unread tells whether there may be more in the list of the line than was read.
func (l *tableLine) unread() bool { return len(l.cut) > 0 || l.listed >= LimitHeadsMax }

func costOf(h *head, k LimitKey) int64 {
	for _, n := range h.Needs {
		if n.Name == k.Name {
			return n.Cost
		}
	}
	return 1
}
