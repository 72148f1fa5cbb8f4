package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// roster is the nodes that have joined through this store and have not left. A statement of a node
// names the node's incarnation beside its id, because a database that was restored may give an id
// out a second time, and requests name nodes by id alone.
//
// A node is not taken off when it is declared dead, so that its statements go on to name it and
// find out that it is.
type roster struct {
	mu   sync.RWMutex
	list map[journal.NodeID]*member
}

func (r *roster) add(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list == nil {
		r.list = map[journal.NodeID]*member{}
	}
	r.list[m.id] = m
}

// any tells whether a node runs on the store.
func (r *roster) any() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.list) > 0
}

// remove takes a node off, unless a later one of this store has its id.
func (r *roster) remove(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list[m.id] == m {
		delete(r.list, m.id)
	}
}

// each calls fn for every node. fn must be quick.
func (r *roster) each(fn func(m *member)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, m := range r.list {
		fn(m)
	}
}

// member returns a node, nil if it has not joined through this store.
func (r *roster) member(node journal.NodeID) *member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.list[node]
}

// incarnation returns that of a node. A node that has not joined through this store has the zero
// one, which no row has, so the statement finds no member.
func (r *roster) incarnation(node journal.NodeID) pgtype.UUID {
	if m := r.member(node); m != nil {
		return pgtype.UUID{Bytes: m.incarnation, Valid: true}
	}
	return pgtype.UUID{Valid: true}
}
