package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// joinSQL makes a node. Its id is never used again, so what a dead node wrote is never taken for a
// later one's.
const joinSQL = `INSERT INTO reprise_nodes (name, routes, lease, started_at) VALUES (?, ?, ?, ?) RETURNING id`

// joinUnblockSQL finds blocked runs that the code which has just come may try: the node may be of
// the release that knows what the blocked one did not.
const joinUnblockSQL = `
SELECT t.run_id FROM reprise_tasks t
WHERE t.state = 1 AND t.state > 0 AND t.owner = 0 AND (t.visible_at IS NULL OR t.visible_at > ?)
  AND t.queue = ? AND t.workflow = ? AND t.version = +?
ORDER BY t.run_id LIMIT +?`

// nodesForgetSQL forgets a node that owns nothing any more.
const nodesForgetSQL = `DELETE FROM reprise_nodes WHERE id = ?`

// leaveFreeSQL hands a task back. No strike is counted: the node leaves in good order. A pause
// stays (J11).
const leaveFreeSQL = `UPDATE reprise_tasks SET owner = 0, unproven = 0, visible_at = ?, state = min(state, 3) WHERE run_id = ?`

// nodes is the membership. All nodes are in this process, so their leases are kept in its memory:
// renewing one needs no turn at the file, which the transaction of a step may hold for a while. A
// crash loses the leases together with all who had one, and the next process starts by freeing
// every task (see takeOver).
//
// A node is live, then lost, then forgotten, and never goes back. Only a live one is given runs; a
// lost one is remembered until its tasks are freed, so that a reap that failed half-way is taken up
// again.
type nodes struct {
	mu   sync.Mutex
	live map[journal.NodeID]*node // guarded by mu; the lease may have run out
	lost map[journal.NodeID]bool  // guarded by mu; declared dead, tasks not freed yet
}

// node is a live node.
type node struct {
	journal.Node
	heeded   int64 // the number of the newest pause that it heeds
	recalled int   // counts the calls that have taken runs away from it
	heard    int   // recalled as of the last Owned
}

func newNodes() *nodes {
	return &nodes{live: map[journal.NodeID]*node{}, lost: map[journal.NodeID]bool{}}
}

// add makes a node live.
func (n *nodes) add(joined journal.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.live[joined.ID] = &node{Node: joined}
}

// alive tells whether a node may be given runs. A node whose lease has run out still is, until
// somebody declares it lost: only the declaration frees its runs, so only that counts.
func (n *nodes) alive(id journal.NodeID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.live[id] != nil
}

// markLost declares a node dead.
func (n *nodes) markLost(id journal.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.live[id] != nil {
		delete(n.live, id)
		n.lost[id] = true
	}
}

// markExpiredLost declares those nodes dead whose lease has run out. It happens under the same
// mutex as renewals, so a node either renews in time or learns by its next renewal that it is lost.
func (n *nodes) markExpiredLost() (dead []journal.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, node := range n.live {
		if node.ExpiresAt.Before(time.Now()) {
			delete(n.live, id)
			n.lost[id] = true
			dead = append(dead, id)
		}
	}
	return dead
}

// forget drops a lost node whose tasks are freed.
func (n *nodes) forget(id journal.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.lost, id)
}

// renew extends a lease. A node that is lost cannot come back to life, even if it was declared so
// wrongly: its tasks may have other owners by now.
func (n *nodes) renew(id journal.NodeID) (r driver.Renewal, alive bool) {
	r.Now = now()
	n.mu.Lock()
	defer n.mu.Unlock()
	me := n.live[id]
	if me == nil {
		return r, false
	}
	me.ExpiresAt = time.Now().Add(me.Lease)
	r.Compare = me.recalled != me.heard
	return r, true
}

// suspects lists the nodes to reap, but not the one that asks: those whose lease has run out, and
// those that are lost with tasks still to be freed.
func (n *nodes) suspects(me journal.NodeID) (list []journal.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other, node := range n.live {
		if other != me && node.ExpiresAt.Before(time.Now()) {
			list = append(list, other)
		}
	}
	for other := range n.lost {
		list = append(list, other)
	}
	return list
}

// valid lists the nodes whose lease has not run out.
func (n *nodes) valid() (list []journal.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, node := range n.live {
		if node.ExpiresAt.After(time.Now()) {
			c := node.Node
			c.ExpiresAt = c.ExpiresAt.UTC().Truncate(time.Microsecond)
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b journal.Node) int { return int(a.ID) - int(b.ID) })
	return list
}

// member implements driver.Membership for a node. It has no state of its own.
type member struct {
	s  *Store
	id journal.NodeID
}

// Join implements driver.Store. The node is live only after its row is on disk, so that its id can
// never be given out again.
func (s *Store) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	routes, err := driver.EncodeRoutes(&n)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, 0, func(b *batch) error {
		at := now()
		n.StartedAt = at
		made, err := b.queryInt(joinSQL, n.Name, routes, n.Lease.Microseconds(), at.UnixMicro())
		if err != nil {
			return err
		}
		n.ID = journal.NodeID(made)
		return unblock(b, unique(n.Routes), at.UnixMicro())
	})
	if err != nil {
		return nil, err
	}
	n.Routes, n.ExpiresAt = slices.Clone(n.Routes), time.Now().Add(n.Lease)
	s.nodes.add(n)
	return &member{s: s, id: n.ID}, nil
}

// unblock makes blocked runs of the routes visible.
func unblock(q querier, routes []journal.Route, at int64) error {
	for _, r := range routes {
		runs, err := readIDs(q, joinUnblockSQL, at, r.Queue, r.Workflow, int64(r.Version), int64(joinRetriesMax))
		if err != nil {
			return err
		}
		for _, run := range runs {
			if _, err := q.exec(commitVisibleSQL, at, uuidArg(run)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Nodes implements driver.Store. It does not look at the file, unless the nodes are in another
// process.
func (s *Store) Nodes(ctx context.Context) ([]journal.Node, error) {
	if s.life.Err() != nil {
		return nil, journal.ErrStoreClosed
	}
	if s.o.ReadOnly {
		return nodesElsewhere(ctx, s)
	}
	return s.nodes.valid(), nil
}

// nodesHereSQL lists the nodes of the process that has the file: their rows are deleted when they
// leave, and those of a process that died by the next one that opens the file.
const nodesHereSQL = `SELECT n.id, n.name, n.routes, n.lease, n.started_at FROM reprise_nodes n ORDER BY n.id`

// nodesElsewhere lists the nodes of another process. Their leases are in its memory, so its life is
// what counts: the rows are of nodes that live exactly if somebody holds the lock. A lease that has
// run out in a process that lives is not seen from here.
func nodesElsewhere(ctx context.Context, s *Store) (list []journal.Node, err error) {
	held, err := lockHeld(s.path)
	if err != nil || !held {
		return nil, err
	}
	err = s.read(ctx, func(c *conn) error {
		return c.query(nodesHereSQL, func(r row) error {
			n := journal.Node{ID: journal.NodeID(r.int(0)), Name: r.text(1), StartedAt: r.time(4)}
			n.Lease = time.Duration(r.int(3)) * time.Microsecond
			_ = driver.DecodeRoutes(r.text(2), &n) // a newer release may write them otherwise; the node lives all the same
			n.ExpiresAt = now().Add(n.Lease)
			list = append(list, n)
			return nil
		})
	})
	return list, err
}

// ID implements driver.Membership.
func (m *member) ID() journal.NodeID { return m.id }

// Renew implements driver.Membership. It does not look at the file, so it works while a step holds
// the writer's connection.
func (m *member) Renew(context.Context) (driver.Renewal, error) {
	if m.s.life.Err() != nil {
		return driver.Renewal{Now: now()}, journal.ErrStoreClosed
	}
	r, alive := m.s.nodes.renew(m.id)
	if !alive {
		return r, m.errLost()
	}
	r.Heed = true // the file is near
	return r, nil
}

// Look implements driver.Membership. It does not look at the file either, so it does not answer
// when the next task is due.
func (m *member) Look(context.Context) (driver.Look, error) {
	if m.s.life.Err() != nil {
		return driver.Look{}, journal.ErrStoreClosed
	}
	return driver.Look{Suspects: m.s.nodes.suspects(m.id)}, nil
}

// Contact implements driver.Membership. All nodes are in this process, so contact is never lost.
func (m *member) Contact() (time.Time, bool) { return time.Now(), false }

// Judged implements driver.Membership.
func (m *member) Judged() <-chan struct{} { return nil }

// Ask implements driver.Membership.
func (m *member) Ask(context.Context, bool) (bool, error) { return false, nil }

func (m *member) errLost() error { return fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost) }

// Leave implements driver.Membership. The node is lost first: from there on no start or claim
// makes it the owner, so freeing what it has ends.
func (m *member) Leave(ctx context.Context) error {
	m.s.nodes.markLost(m.id)
	_, err := m.s.freeTasks(ctx, m.id, func(q querier, run journal.RunID, at time.Time) (bool, error) {
		_, err := q.exec(leaveFreeSQL, at.UnixMicro(), uuidArg(run))
		return false, err
	})
	return err
}

// Heed implements driver.Membership. The number is of the file that the process has, so it cannot
// be of another pause.
func (m *member) Heed(ctx context.Context, heeded int64) (o driver.Orders, err error) {
	if m.s.life.Err() != nil {
		return o, journal.ErrStoreClosed
	}
	alive := false
	if alive, o.Drain = m.s.nodes.heed(m.id, heeded); !alive {
		return driver.Orders{}, m.errLost()
	}
	err = m.s.read(ctx, func(c *conn) error { o.Pauses, err = readPauses(c); return err })
	return o, err
}

// heed notes up to which pause a node heeds them, and tells whether it lives and is to leave.
func (n *nodes) heed(id journal.NodeID, number int64) (alive, drain bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	me := n.live[id]
	if me == nil {
		return false, false
	}
	me.heeded = max(me.heeded, number)
	return true, me.Draining
}

// drain asks a node to leave. changed is false if it has been asked before.
func (n *nodes) drain(id journal.NodeID) (name string, changed bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	me := n.live[id]
	if me == nil {
		return "", false, journal.ErrNoNode
	}
	changed, me.Draining = !me.Draining, true
	return me.Name, changed, nil
}

// unheeding lists the nodes that do not heed a pause.
func (n *nodes) unheeding(number int64) (list []journal.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, node := range n.live {
		if node.heeded < number {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, cmp.Compare[journal.NodeID])
	return list
}
