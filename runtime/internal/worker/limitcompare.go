package worker

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitAudit finds claims that an operator has taken from steps that go on. The store does not have
// such a claim, as it does not have one that it has forgotten because it went back in time. The
// first must stay released: a limit that is full of steps that hang would be full again. The other
// is asked for as held. The audit tells them apart, for a store that went back has lost both the
// release and its row of the audit, or neither.
type limitAudit struct {
	node journal.NodeID
	list func(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error)
}

// released returns those of some claims that an operator has released.
func (a limitAudit) released(ctx context.Context, ids []int64) (released []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := a.list(ctx, journal.AuditFilter{Verb: driver.AdminReleaseClaim.String(), Limit: journal.ListMax})
	for _, id := range ids {
		if slices.ContainsFunc(list, func(e journal.AuditEntry) bool { return driver.ReleasesClaim(&e, a.node, id) }) {
			released = append(released, id)
		}
	}
	return released, err
}

// missingOf are the wants that are executed and that the store does not have.
func missingOf(list map[int64]*limitEntry, claims []driver.KnownClaim) (ids []int64) {
	known := make(map[int64]bool, len(claims))
	for i := range claims {
		known[claims[i].ID] = true
	}
	for id, e := range list {
		if e.sent && e.granted && !known[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// forget drops wants that are executed and that an operator has released: the store does not have
// them, and others may have got their places.
func (l *limiter) forget(ctx context.Context, claims []driver.KnownClaim) error {
	l.mu.Lock()
	missing := missingOf(l.list, claims)
	l.mu.Unlock()
	released, err := l.audit.released(ctx, missing)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range released {
		if e := l.list[id]; e != nil && e.granted {
			delete(l.list, id)
			l.granted--
		}
	}
	return err
}

// compared makes the store know what the node has, and nothing else. Wants that no round has had
// yet are not missing, and those whose release is still to be sent are not too many. What is
// executed, and waits in a store that has forgotten the grant alone, gives its place in the line up
// and is held again. The caller holds the lock.
func (l *limiter) compared(claims []driver.KnownClaim) {
	known, ending := make(map[int64]bool, len(claims)), make(map[int64]bool, len(l.releases))
	for i := range l.releases {
		ending[l.releases[i].ID] = true
	}
	for i := range claims {
		c := &claims[i]
		e := l.list[c.ID]
		switch {
		case e == nil && !ending[c.ID]:
			l.end(c.ID, c.Needs)
		case e != nil && e.granted && !c.Held:
			e.again = true
			l.end(c.ID, c.Needs)
		case e != nil:
			e.sent, known[c.ID] = true, true
		}
	}
	l.fresh = slices.DeleteFunc(l.fresh, func(e *limitEntry) bool { return e.sent })
	var again []*limitEntry
	for id, e := range l.list {
		if e.sent && !known[id] {
			e.sent, e.again = false, e.granted
			again = append(again, e)
		}
	}
	slices.SortFunc(again, func(a, b *limitEntry) int { return cmp.Compare(a.want.ID, b.want.ID) })
	l.fresh = append(again, l.fresh...)
}
