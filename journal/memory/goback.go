package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// Mark is the whole database at one moment, to go back to.
type Mark struct {
	runs     []*record // in the order in which their tasks were enqueued
	nodes    map[journal.NodeID]*node
	nodeLast journal.NodeID
	audit    []journal.AuditEntry
	pauses   map[journal.Scope]journal.Pause
	views    map[string]journal.View
	limits   limits
}

// Mark keeps the present state of the database for [Store.GoBack].
func (s *Store) Mark() *Mark {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return s.db.mark()
}

// GoBack puts the database back to what it was at a mark, which may be used again. It is what an
// operator's fail-over to an asynchronous standby does, or a restored copy: everything that was
// acknowledged since is gone, the processes live on, and ids of nodes and numbers of all kinds
// repeat. The clock does not go back.
func (s *Store) GoBack(m *Mark) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	db := s.db
	db.runs, db.sorted, db.keys = map[journal.RunID]*record{}, nil, map[string]*record{}
	db.children = map[journal.RunID]map[journal.RunID]*record{}
	db.queues, db.held, db.blocked = map[journal.Route]*queues{}, map[journal.NodeID]*holding{}, map[journal.RunID]*record{}
	db.nodes, db.nodeLast, db.audit = copyNodes(m.nodes), m.nodeLast, m.audit
	db.pauses, db.views = maps.Clone(m.pauses), maps.Clone(m.views)
	db.limits = m.limits.clone()
	now := db.now()
	for _, kept := range m.runs {
		r := kept.copy()
		db.insert(r)
		if r.holdsKey {
			db.keys[r.run.Key] = r
		}
		if r.open {
			db.addChild(r)
			db.enqueue(r, now)
		}
	}
}

func (db *database) mark() *Mark {
	m := &Mark{nodes: copyNodes(db.nodes), nodeLast: db.nodeLast, audit: slices.Clip(db.audit), pauses: maps.Clone(db.pauses), views: maps.Clone(db.views), limits: db.limits.clone()}
	for _, r := range db.sorted {
		m.runs = append(m.runs, r.copy())
	}
	slices.SortFunc(m.runs, func(a, b *record) int { return cmp.Compare(a.order, b.order) })
	return m
}

// copy returns a record that the original can be changed without. Events and messages are never
// changed once they are there, so their lists are shared up to their present ends.
func (r *record) copy() *record {
	c := *r
	c.heap, c.index = nil, 0
	c.events, c.inbox = slices.Clip(r.events), slices.Clip(r.inbox)
	c.past = slices.Clone(r.past)
	c.known, c.answers = maps.Clone(r.known), maps.Clone(r.answers)
	return &c
}

func copyNodes(nodes map[journal.NodeID]*node) map[journal.NodeID]*node {
	list := make(map[journal.NodeID]*node, len(nodes))
	for id, n := range nodes {
		c := *n
		list[id] = &c
	}
	return list
}
