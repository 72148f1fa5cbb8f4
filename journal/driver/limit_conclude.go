package driver

import (
	"slices"
	"time"
)

// conclude says where sets wait, when lines that wait are worth another look, and which of them
// wait for a Total alone.
func (t *LimitTable) conclude() {
	t.settleSets()
	for _, l := range t.lines {
		switch {
		case l.key.Key == totalKey:
			if _, read := t.opened[l.key.Name]; read {
				l.looked(0)
			}
		case l.Waiting == 0 && !l.whole:
			l.looked(0)
		case l.whole:
			t.concludeLine(l)
		case l.gained != nil:
			t.gain(l)
		}
	}
	for name, n := range t.opened { // those that were not read are next, if the round has got on
		if k := (LimitKey{name, totalKey}); n >= LimitHeadsMax && t.moved[name] && t.lines[k].Held < t.total(name) {
			t.answer.Again = append(t.answer.Again, k)
		}
	}
	slices.SortFunc(t.answer.Again, LimitKey.compare)
	t.answer.Again = slices.Compact(t.answer.Again)
	for _, k := range t.answer.Again {
		if l := t.lines[k]; l != nil && (l.LookAt != 0 || k.Key == totalKey) {
			l.looked(t.Now.UnixMicro())
		}
	}
}

// concludeLine is conclude for a line whose heads are in the table. A line in which nobody waits
// but sets that are away has nothing to look for: where these wait is looked at instead. It is
// looked at again at once only if the round has granted or moved what it has read of it, so rounds
// end.
func (t *LimitTable) concludeLine(l *tableLine) {
	now := t.Now.UnixMicro()
	if l.Waiting == 0 {
		l.looked(0)
	}
	first, cost := l.waiter(), int64(1)
	if first != nil {
		cost = costOf(first, l.key)
	}
	due := l.due(cost)
	free := l.free()
	waits := l.Waiting > 0 && (first != nil || l.unread())
	if waits && free && due > now {
		t.dueAt(l.key, due)
	}
	if l.LookAt != 0 {
		l.looked(LookNever)
		switch {
		case l.retry:
			l.looked(now)
		case waits && free && due > now:
			l.looked(due)
		}
	}
	if waits && !l.closed && (l.stopped || first == nil) && t.allows(l, 1) {
		t.answer.Again = append(t.answer.Again, l.key)
	}
	open := waits && free && due <= now && !l.closed && t.total(l.key.Name) > 0
	if l.Open != open {
		l.Open, l.dirty = open, true
		t.moved[l.key.Name] = t.moved[l.key.Name] || !open
	}
}

// gain is conclude for a line into whose list a set comes, and whose heads are not in the table.
func (t *LimitTable) gain(l *tableLine) {
	due := l.due(costOf(l.gained, l.key))
	switch {
	case !l.free():
	case due > t.Now.UnixMicro():
		t.dueAt(l.key, due)
		if l.LookAt != 0 {
			l.looked(min(l.LookAt, due))
		}
	case t.total(l.key.Name) > 0 && !l.Open:
		l.Open, l.dirty = true, true
	}
}

// dueAt answers when the rate of a line lets somebody begin.
func (t *LimitTable) dueAt(k LimitKey, due int64) {
	if t.answer.Due == nil {
		t.answer.Due = map[LimitKey]time.Time{}
	}
	t.answer.Due[k] = time.UnixMicro(due).UTC()
}

// looked notes when the next look at a line is worth it for runs.
func (l *tableLine) looked(at int64) {
	if l.LookAt != at {
		l.LookAt, l.dirty = at, true
	}
}
