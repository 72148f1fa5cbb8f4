package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// member is a process's hold on a node that it has made join. Its fields but id and s are guarded
// by s.db.mu.
type member struct {
	s           *Store
	id          journal.NodeID
	incarnation uint64
	recalled    uint64 // as of the last Owned
	renewals    uint64 // of the last renewal
	compare     bool   // what the node owns is to be compared: see driver.Renewal
}

// row returns the node's row, or nil if the node was declared dead, has left, or joined at a time
// that the database has gone back from.
func (m *member) row() *node {
	n := m.s.db.nodes[m.id]
	if n == nil || n.lost || n.incarnation != m.incarnation {
		return nil
	}
	return n
}

// Join implements driver.Store. Blocked runs of its routes become due, in the order in which they
// were blocked: the new node may have the code that they wait for.
func (s *Store) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	s.db.nodeLast++
	s.db.joins++
	n.ID, n.Routes = s.db.nodeLast, slices.Clone(n.Routes)
	n.StartedAt, n.ExpiresAt = now, instant(now.Add(n.Lease))
	m := &member{s: s, id: n.ID, incarnation: s.db.joins}
	s.members[n.ID] = m
	s.db.nodes[n.ID] = &node{Node: n, s: s, incarnation: m.incarnation}
	for _, r := range inOrder(s.db.blocked) {
		later := r.task.VisibleAt.IsZero() || r.task.VisibleAt.After(now)
		if later && r.task.Owner == 0 && slices.Contains(n.Routes, r.route()) {
			s.db.makeVisible(r, now)
		}
	}
	return m, nil
}

// Nodes implements driver.Store. It lists by lease, since that is what people and clients ask:
// which nodes are at work.
func (s *Store) Nodes(ctx context.Context) ([]journal.Node, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var list []journal.Node
	for _, id := range slices.Sorted(maps.Keys(s.db.nodes)) {
		if n := s.db.nodes[id]; !n.lost && n.ExpiresAt.After(now) {
			row := n.Node
			row.Routes = slices.Clone(row.Routes)
			list = append(list, row)
		}
	}
	return list, nil
}

// ID implements driver.Membership.
func (m *member) ID() journal.NodeID { return m.id }

// Renew implements driver.Membership. A row that counts fewer renewals than this process has seen
// answered is an older state of the database.
func (m *member) Renew(ctx context.Context) (driver.Renewal, error) {
	now, err := m.s.enter(ctx)
	if err != nil {
		return driver.Renewal{}, err
	}
	db := m.s.db
	defer db.mu.Unlock()
	r := driver.Renewal{Now: now, Heed: true} // it costs nothing
	// Declared dead: its runs may be with others already. The caller learns the store's time all
	// the same.
	n := m.row()
	if n == nil {
		return r, fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost)
	}
	// A lease that ran out is good again if nobody has reaped the node meanwhile: its runs are
	// still its own.
	n.ExpiresAt = instant(now.Add(n.Lease))
	m.compare = m.compare || n.renewals < m.renewals || n.recalled != m.recalled
	n.renewals++
	m.renewals, r.Compare = n.renewals, m.compare
	return r, nil
}

// Look implements driver.Membership. Suspects are told and not reaped here: it is Reap that looks
// at a suspect a second time before it declares it dead. The queue is not looked at: a claim costs
// no more.
func (m *member) Look(ctx context.Context) (driver.Look, error) {
	now, err := m.s.enter(ctx)
	if err != nil {
		return driver.Look{}, err
	}
	db := m.s.db
	defer db.mu.Unlock()
	var l driver.Look
	for _, id := range slices.Sorted(maps.Keys(db.nodes)) {
		other := db.nodes[id]
		switch {
		case other.s == m.s && other.incarnation == m.incarnation:
		case other.lost || other.ExpiresAt.Before(now):
			l.Suspects = append(l.Suspects, id)
		case other.gone():
			l.Suspects, l.Wait = append(l.Suspects, id), max(l.Wait, other.Grace)
		}
	}
	return l, nil
}

// Contact implements driver.Membership. Calls are function calls, so contact is never lost.
func (m *member) Contact() (time.Time, bool) { return time.Now(), false }

// Judged implements driver.Membership.
func (m *member) Judged() <-chan struct{} { return nil }

// Ask implements driver.Membership.
func (m *member) Ask(context.Context, bool) (bool, error) { return false, nil }

// Owned implements driver.Membership. From here on the node has heard of what was taken away: it is
// not in the list.
func (m *member) Owned(ctx context.Context) ([]driver.Holding, error) {
	if _, err := m.s.enter(ctx); err != nil {
		return nil, err
	}
	db := m.s.db
	defer db.mu.Unlock()
	n := m.row()
	if n == nil {
		return nil, fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost)
	}
	m.recalled, m.compare = n.recalled, false
	var list []driver.Holding
	if h := db.held[m.id]; h != nil {
		for _, r := range inOrder(h.all) {
			hold := driver.Holding{Run: r.run.ID, Generation: r.run.Generation, Fence: r.task.Fence, Confirmed: !r.unconfirmed}
			if len(r.events) > 0 {
				hold.Head = r.head()
			}
			list = append(list, hold)
		}
	}
	return list, nil
}

// Release implements driver.Membership.
func (m *member) Release(ctx context.Context, list []driver.Holding) error {
	now, err := m.s.enter(ctx)
	if err != nil {
		return err
	}
	db := m.s.db
	defer db.mu.Unlock()
	if m.row() == nil {
		return fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost)
	}
	for _, h := range list {
		if r := m.s.open(h.Run); r != nil && r.task.Owner == m.id && r.task.Fence == h.Fence {
			db.free(r, now)
		}
	}
	return nil
}

// free makes an owned task visible, as its owner wants it.
func (db *database) free(r *record, now time.Time) {
	db.dequeue(r)
	r.task.Owner, r.task.VisibleAt, r.unconfirmed = 0, now, false
	r.task.State = driver.FreedState(r.task.State) // J11
	db.enqueue(r, now)
}

// Leave implements driver.Membership. The node is out of the list before its tasks are freed, and a
// claim of it that arrives later acquires nothing.
func (m *member) Leave(ctx context.Context) error {
	now, err := m.s.enter(ctx)
	if err != nil {
		return err
	}
	db := m.s.db
	defer db.mu.Unlock()
	if n := db.nodes[m.id]; n == nil || n.incarnation != m.incarnation {
		return nil
	}
	// Gone at once: unlike a node that died it needs nobody's Reap, and its runs get no strike.
	delete(db.nodes, m.id)
	if err := driver.FreeLimits(&db.limits, m.id, now); err != nil {
		return err
	}
	if h := db.held[m.id]; h != nil {
		for _, r := range inOrder(h.all) {
			db.free(r, now)
		}
	}
	return nil
}
