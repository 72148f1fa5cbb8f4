package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// member is a node, and its process's membership. It is lost once it has left or was declared dead,
// and never comes back: ids are not used again, so a call of a lost node that arrives late finds
// nothing that could be mistaken for it.
type member struct {
	s    *Store
	node journal.Node // guarded by s.db.mu, as is lost
	lost bool         // declared dead, or left
}

// gone tells whether the node's process seems to be gone. Other stores see that by a lock of the
// process's session; here it is whether the process's store was closed.
func (n *member) gone() bool { return n.s.closed }

// alive tells whether a node may be given runs. That its lease has run out does not matter here:
// until a Reap it may still renew, and what it is given is freed with the rest if it does not.
func (db *database) alive(id journal.NodeID) bool {
	n := db.nodes[id]
	return n != nil && !n.lost
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
	n.ID, n.Routes = s.db.nodeLast, slices.Clone(n.Routes)
	n.StartedAt, n.ExpiresAt = now, instant(now.Add(n.Lease))
	member := &member{s: s, node: n}
	s.db.nodes[n.ID] = member
	for _, r := range inOrder(s.db.blocked) {
		later := r.task.VisibleAt.IsZero() || r.task.VisibleAt.After(now)
		if later && r.task.Owner == 0 && slices.Contains(n.Routes, r.route()) {
			s.db.makeVisible(r, now)
		}
	}
	return member, nil
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
		if n := s.db.nodes[id]; !n.lost && n.node.ExpiresAt.After(now) {
			node := n.node
			node.Routes = slices.Clone(node.Routes)
			list = append(list, node)
		}
	}
	return list, nil
}

// ID implements driver.Membership.
func (n *member) ID() journal.NodeID { return n.node.ID } // never changes

// Renew implements driver.Membership. Suspects are told and not reaped here: a renewal must be
// quick, and it is Reap that looks at a suspect a second time before it declares it dead.
func (n *member) Renew(ctx context.Context) (driver.Renewal, error) {
	now, err := n.s.enter(ctx)
	if err != nil {
		return driver.Renewal{}, err
	}
	db := n.s.db
	defer db.mu.Unlock()
	r := driver.Renewal{Now: now}
	// Declared dead: its runs may be with others already. The caller learns the store's time all
	// the same.
	if n.lost {
		return r, fmt.Errorf("node %d: %w", n.node.ID, journal.ErrNodeLost)
	}
	// A lease that ran out is good again if nobody has reaped the node meanwhile: its runs are
	// still its own.
	n.node.ExpiresAt = instant(now.Add(n.node.Lease))
	for _, id := range slices.Sorted(maps.Keys(db.nodes)) {
		if other := db.nodes[id]; other != n && (other.lost || other.node.ExpiresAt.Before(now) || other.gone()) {
			r.Suspects = append(r.Suspects, id)
		}
	}
	return r, nil
}

// Leave implements driver.Membership. The node is out of the list before its tasks are freed, and a
// claim of it that arrives later acquires nothing.
func (n *member) Leave(ctx context.Context) error {
	now, err := n.s.enter(ctx)
	if err != nil {
		return err
	}
	db := n.s.db
	defer db.mu.Unlock()
	// Gone at once: unlike a node that died it needs nobody's Reap, and its runs get no strike.
	n.lost = true
	delete(db.nodes, n.node.ID)
	if h := db.held[n.node.ID]; h != nil {
		for _, r := range inOrder(h.all) {
			db.dequeue(r)
			r.task.Owner, r.task.VisibleAt, r.unconfirmed = 0, now, false
			db.enqueue(r, now)
		}
	}
	return nil
}
