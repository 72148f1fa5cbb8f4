package journaltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// memoryNode is a node, and its process's membership.
type memoryNode struct {
	m    *Memory
	node journal.Node // guarded by m.db.mu, as is lost
	lost bool         // declared dead, or left
}

// gone tells whether the node's process seems to be gone.
func (n *memoryNode) gone() bool { return n.m.closed }

// alive tells whether a node may be given runs.
func (db *database) alive(id journal.NodeID) bool {
	n := db.nodes[id]
	return n != nil && !n.lost
}

// Join implements journal.Store. Blocked runs are tried by the code that has just come.
func (m *Memory) Join(ctx context.Context, n journal.Node) (journal.Membership, error) {
	now, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer m.db.mu.Unlock()
	m.db.nodeLast++
	n.ID, n.Routes = m.db.nodeLast, slices.Clone(n.Routes)
	n.StartedAt, n.ExpiresAt = now, instant(now.Add(n.Lease))
	member := &memoryNode{m: m, node: n}
	m.db.nodes[n.ID] = member
	for _, r := range inOrder(m.db.blocked) {
		later := r.task.VisibleAt.IsZero() || r.task.VisibleAt.After(now)
		if later && r.task.Owner == 0 && slices.Contains(n.Routes, r.route()) {
			m.db.show(r, now)
		}
	}
	return member, nil
}

// Nodes implements journal.Store.
func (m *Memory) Nodes(ctx context.Context) ([]journal.Node, error) {
	now, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer m.db.mu.Unlock()
	var list []journal.Node
	for _, id := range slices.Sorted(maps.Keys(m.db.nodes)) {
		if n := m.db.nodes[id]; !n.lost && n.node.ExpiresAt.After(now) {
			node := n.node
			node.Routes = slices.Clone(node.Routes)
			list = append(list, node)
		}
	}
	return list, nil
}

// Expire implements Expirer.
func (m *Memory) Expire(ctx context.Context, node journal.NodeID) error {
	now, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer m.db.mu.Unlock()
	if n := m.db.nodes[node]; n != nil {
		n.node.ExpiresAt = now.Add(-time.Second)
	}
	return nil
}

// ID implements journal.Membership.
func (n *memoryNode) ID() journal.NodeID { return n.node.ID } // never changes

// Renew implements journal.Membership.
func (n *memoryNode) Renew(ctx context.Context) (journal.Renewal, error) {
	now, err := n.m.enter(ctx)
	if err != nil {
		return journal.Renewal{}, err
	}
	db := n.m.db
	defer db.mu.Unlock()
	r := journal.Renewal{Now: now}
	if n.lost {
		return r, fmt.Errorf("node %d: %w", n.node.ID, journal.ErrNodeLost)
	}
	n.node.ExpiresAt = instant(now.Add(n.node.Lease))
	for _, id := range slices.Sorted(maps.Keys(db.nodes)) {
		if other := db.nodes[id]; other != n && (other.lost || other.node.ExpiresAt.Before(now) || other.gone()) {
			r.Suspects = append(r.Suspects, id)
		}
	}
	return r, nil
}

// Reap implements journal.Membership.
func (n *memoryNode) Reap(ctx context.Context, suspects []journal.NodeID) (journal.Reaped, error) {
	now, err := n.m.enter(ctx)
	if err != nil {
		return journal.Reaped{}, err
	}
	db := n.m.db
	defer db.mu.Unlock()
	var r journal.Reaped
	for _, id := range slices.Sorted(maps.Keys(db.nodes)) {
		other := db.nodes[id]
		if !other.lost && (other.node.ExpiresAt.Before(now) || other.gone() && slices.Contains(suspects, id)) {
			other.lost = true
			r.Nodes = append(r.Nodes, id)
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(db.held)) {
		if db.alive(owner) {
			continue
		}
		for _, rec := range inOrder(db.held[owner].all) {
			if db.strike(rec, now) {
				r.Quarantined++
			} else {
				r.Tasks++
			}
		}
	}
	maps.DeleteFunc(db.nodes, func(_ journal.NodeID, other *memoryNode) bool { return other.lost })
	return r, nil
}

// strike frees a task whose owner died, and tells whether it is quarantined for that.
func (db *database) strike(r *record, now time.Time) bool {
	db.lift(r)
	defer db.place(r, now)
	t := &r.task
	dead := t.Owner
	t.Strikes++
	t.Owner, t.State, t.Problem, t.VisibleAt, r.unproven = 0, journal.Ready, "", now, false
	switch {
	case t.Strikes >= journal.QuarantineStrikes:
		t.State, t.VisibleAt = journal.Quarantined, time.Time{}
		t.Problem = journal.QuarantineProblem(t.Strikes, dead)
		return true
	default:
		t.VisibleAt = now.Add(journal.StrikeDelay(t.Strikes))
	}
	return false
}

// Leave implements journal.Membership.
func (n *memoryNode) Leave(ctx context.Context) error {
	now, err := n.m.enter(ctx)
	if err != nil {
		return err
	}
	db := n.m.db
	defer db.mu.Unlock()
	n.lost = true
	delete(db.nodes, n.node.ID)
	if h := db.held[n.node.ID]; h != nil {
		for _, r := range inOrder(h.all) {
			db.lift(r)
			r.task.Owner, r.task.VisibleAt, r.unproven = 0, now, false
			db.place(r, now)
		}
	}
	return nil
}
