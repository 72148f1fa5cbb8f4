package journaltest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// MemoryOptions of a Memory. The zero value means the defaults.
type MemoryOptions struct {
	// Now is the store's clock (J9), by default time.Now. A clock that is set back stands still until it has caught up.
	Now func() time.Time
}

// Memory keeps a journal in memory: the reference of what a store does, and the store of tests and simulations. It
// starts no goroutine and waits for nothing but its mutex, so it works inside a testing/synctest bubble. What it does
// follows from the calls and the clock alone.
//
// A Memory stands for one process that is connected to the database. [Memory.Peer] connects another one.
// Its methods may be called from many goroutines.
type Memory struct {
	db       *database
	done     chan struct{} // closed with the store
	closed   bool          // guarded by db.mu, like what follows
	watchers []*watcher
}

var (
	_ journal.Store   = (*Memory)(nil)
	_ journal.TxStore = (*Memory)(nil)
	_ Rusher          = (*Memory)(nil)
	_ Expirer         = (*Memory)(nil)
)

// NewMemory returns a store on an empty database. o may be nil.
func NewMemory(o *MemoryOptions) *Memory {
	db := &database{
		clock: time.Now, runs: map[journal.RunID]*record{}, keys: map[string]*record{}, lanes: map[journal.Route]*lanes{},
		children: map[journal.RunID]map[journal.RunID]*record{},
		held:     map[journal.NodeID]*holding{}, blocked: map[journal.RunID]*record{}, nodes: map[journal.NodeID]*memoryNode{},
	}
	if o != nil && o.Now != nil {
		db.clock = o.Now
	}
	return db.connect()
}

// Peer returns the store of another process on the same database. The two hear each other's hints.
func (m *Memory) Peer() *Memory { return m.db.connect() }

// Close ends the process's connection, as its death does: calls and watches fail from here on, and its nodes
// are suspects at the next renewal of others. The database stays for the peers.
func (m *Memory) Close() {
	m.db.mu.Lock()
	defer m.db.mu.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	close(m.done)
	m.db.peers = slices.DeleteFunc(m.db.peers, func(p *Memory) bool { return p == m })
}

// enter begins a call: it locks the database and returns the time of the call. The caller unlocks.
func (m *Memory) enter(ctx context.Context) (time.Time, error) {
	if ctx.Err() != nil {
		return time.Time{}, context.Cause(ctx)
	}
	m.db.mu.Lock()
	if m.closed {
		m.db.mu.Unlock()
		return time.Time{}, fmt.Errorf("%w: the store is closed", journal.ErrUnavailable)
	}
	return m.db.now(), nil
}

// database is what the peers share.
type database struct {
	mu       sync.Mutex // guards everything that follows, also inside of records
	clock    func() time.Time
	last     time.Time // the newest time that was told
	runs     map[journal.RunID]*record
	sorted   []*record                                   // by id
	keys     map[string]*record                          // the holders of keys (J8)
	children map[journal.RunID]map[journal.RunID]*record // the open ones, by parent
	lanes    map[journal.Route]*lanes
	held     map[journal.NodeID]*holding
	blocked  map[journal.RunID]*record
	nodes    map[journal.NodeID]*memoryNode
	nodeLast journal.NodeID // ids are never used again
	placed   uint64         // counts placements: of tasks due at the same time, the first placed is the first claimed
	peers    []*Memory
}

func (db *database) connect() *Memory {
	db.mu.Lock()
	defer db.mu.Unlock()
	m := &Memory{db: db, done: make(chan struct{})}
	db.peers = append(db.peers, m)
	return m
}

// now never goes back: lanes rely on what is due to stay due.
func (db *database) now() time.Time {
	if now := instant(db.clock()); now.After(db.last) {
		db.last = now
	}
	return db.last
}

// instant is how stores keep a time.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
