package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// pauseScope pauses or resumes a scope. What has changed is in the audit (J12).
func (db *database) pauseScope(a *driver.AdminAction, now time.Time) driver.AdminOutcome {
	var has *journal.Pause
	if p, ok := db.pauses[*a.Scope]; ok {
		has = &p
	}
	if a.ScopePaused(has) {
		db.note(a, a.Scope.Workflow, a.ScopeDetail(), now)
		if a.Kind == driver.AdminResume {
			delete(db.pauses, *a.Scope)
			return driver.AdminOutcome{}
		}
		db.paused++
		p := journal.Pause{Scope: *a.Scope, Number: db.paused, Interrupts: a.Kind == driver.AdminInterrupt, Time: now, Actor: a.Actor,
			Reason: a.AuditReason()}
		if db.pauses == nil {
			db.pauses = map[journal.Scope]journal.Pause{}
		}
		db.pauses[*a.Scope], has = p, &p
	}
	if has == nil {
		return driver.AdminOutcome{}
	}
	return driver.AdminOutcome{Pause: has.Number}
}

// Pauses implements driver.Store.
func (s *Store) Pauses(ctx context.Context) ([]journal.Pause, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	list := s.db.sortedPauses()
	for i := range list {
		for _, id := range slices.Sorted(maps.Keys(s.db.nodes)) {
			if n := s.db.nodes[id]; !n.lost && n.heeded < list[i].Number {
				list[i].Unheeded = append(list[i].Unheeded, id)
			}
		}
	}
	return list, nil
}

func (db *database) sortedPauses() []journal.Pause {
	return slices.SortedFunc(maps.Values(db.pauses), func(a, b journal.Pause) int {
		return cmp.Or(cmp.Compare(a.Scope.Queue, b.Scope.Queue), cmp.Compare(a.Scope.Workflow, b.Scope.Workflow),
			cmp.Compare(a.Scope.Version, b.Scope.Version))
	})
}

// Heed implements driver.Membership.
func (m *member) Heed(ctx context.Context, heeded int64) (o driver.Orders, err error) {
	if _, err := m.s.enter(ctx); err != nil {
		return o, err
	}
	defer m.s.db.mu.Unlock()
	n := m.row()
	if n == nil {
		return o, fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost)
	}
	o = driver.Orders{Pauses: m.s.db.sortedPauses(), Drain: n.Draining}
	for i := range o.Pauses {
		if o.Pauses[i].Number == heeded { // else it is of a time that the database has gone back from
			n.heeded = max(n.heeded, heeded)
		}
	}
	return o, nil
}

// drain asks a node to leave. What has changed is in the audit (J12).
func (db *database) drain(a *driver.AdminAction, now time.Time) error {
	n := db.nodes[a.Node]
	switch {
	case n == nil || n.lost:
		return journal.ErrNoNode
	case !n.Draining:
		n.Draining = true
		db.note(a, "", a.NodeDetail(n.Name), now)
	}
	return nil
}
