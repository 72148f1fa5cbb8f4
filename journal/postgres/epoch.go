package postgres

import (
	"sync"
	"time"
)

// epoch is what a node last heard from the store about the store itself and about its own row. It
// finds out two things that the node cannot know from its own calls: that the store has gone back
// in time, and that somebody has taken a run away.
//
// The store has gone back if it is another server, or the same one after a crash, or another
// database, or if the node's row counts fewer renewals than the node has had answers to. Each of
// them may be true of a store that has lost nothing; then the node compares in vain. A store that
// goes back by less than the time since the last renewal, without a restart, is not noticed here.
// No statement relies on it being noticed: each names the state that it builds on.
//
// The recall number counts the runs that were closed over the node's head. An append names the
// number, see appendSQL, and is written in the long way as long as it is not the row's. So the node
// takes a new number over when it has compared what it owns, and not before.
type epoch struct {
	mu       sync.Mutex
	server   time.Time // start of the server that answered last
	database uint32
	renewals int64 // the largest number that was answered
	recalled int64 // as of the last comparison
	compare  bool  // whether the node should compare
}

// joined begins an epoch. A node that already owns something at its birth has the id of an earlier
// one and begins with a comparison.
func (e *epoch) joined(server time.Time, database uint32, renewals, recalled int64, owns bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server, e.database, e.renewals, e.recalled, e.compare = server, database, renewals, recalled, owns
}

// connected takes what a new connection of the store has led to. A renewal tells the node to
// compare then, and is what the next connections are compared with.
func (e *epoch) connected(server time.Time, database uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !server.Equal(e.server) || database != e.database {
		e.compare = true
	}
}

// renewed takes the answer of a renewal, and tells whether the node should compare.
func (e *epoch) renewed(server time.Time, database uint32, renewals, recalled int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	back := renewals <= e.renewals // it has grown by one just now
	if back || !server.Equal(e.server) || database != e.database || recalled != e.recalled {
		e.compare = true
	}
	e.server, e.database, e.renewals = server, database, renewals
	return e.compare
}

// known is the recall number that appends name.
func (e *epoch) known() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.recalled
}

// suspect makes the next renewal ask for a comparison.
func (e *epoch) suspect() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compare = true
}

// compared ends the need to compare. The number is of the same moment as the list that the node has
// got.
func (e *epoch) compared(recalled int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recalled, e.compare = recalled, false
}
