package memory

import (
	"github.com/reprise-run/reprise/journal"
)

// node is the row of a node. It is lost once the node was declared dead; one that has left has no
// row.
type node struct {
	journal.Node
	s           *Store // of its process
	incarnation uint64 // tells it from another node that got the same id after the database went back
	recalled    uint64 // counts the runs that were taken away from it by a termination
	renewals    uint64
	lost        bool
	heeded      int64 // the number of the newest pause that it heeds
}

// gone tells whether the node's process seems to be gone. Other stores see that by the locks of the
// process's sessions; here it is whether the process's store was closed.
func (n *node) gone() bool { return n.s.closed }

// alive tells whether a node may be given runs, by a call of the present caller. That its lease has
// run out does not matter here: until a Reap it may still renew, and what it is given is freed with
// the rest if it does not.
func (db *database) alive(id journal.NodeID) bool {
	n := db.nodes[id]
	if n == nil || n.lost {
		return false
	}
	m := db.caller.members[id]
	return m == nil || m.incarnation == n.incarnation
}

// proves tells whether membership alone proves that a node owns what it believes to own (J3): it is
// a member, and has heard of everything that was taken away from it.
func (db *database) proves(id journal.NodeID) bool {
	m := db.caller.members[id]
	return m != nil && db.alive(id) && m.recalled == db.nodes[id].recalled
}
