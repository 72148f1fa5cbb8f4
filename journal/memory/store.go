package memory

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Options of a Store. The zero value means the defaults.
type Options struct {
	// Now is the store's clock (J9), by default time.Now. A clock that is set back stands still
	// until it has caught up.
	Now func() time.Time
}

// Store keeps a journal in memory: the reference of what a store does, and the store of tests and
// simulations. It starts no goroutine and waits for nothing but its lock, so it works inside the
// testing/synctest bubble that it was made in. What it does follows from the calls and the clock
// alone: maps are walked in a defined order wherever the order could be seen.
//
// A Store stands for one process that is connected to the database. [Store.Peer] connects another
// one. Its methods may be called from many goroutines.
type Store struct {
	db       *database     // shared with the peers
	done     chan struct{} // closed with the store
	closed   bool          // guarded by db.mu, like what follows
	watchers []*watcher
	members  map[journal.NodeID]*member // nodes that joined by it
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.TxStore = (*Store)(nil)
)

// NewMemory returns a store on an empty database. o may be nil.
func New(o *Options) *Store {
	db := &database{
		mu: newLock(), clock: time.Now, runs: map[journal.RunID]*record{}, keys: map[string]*record{}, queues: map[journal.Route]*queues{},
		children: map[journal.RunID]map[journal.RunID]*record{},
		limits:   newLimits(),
		held:     map[journal.NodeID]*holding{}, blocked: map[journal.RunID]*record{}, nodes: map[journal.NodeID]*node{},
	}
	if o != nil && o.Now != nil {
		db.clock = o.Now
	}
	return db.connect()
}

// Peer returns the store of another process on the same database. The two hear each other's hints,
// and the nodes that joined by one are suspects of the other's once it is closed. So a test has a
// cluster within its own process.
func (s *Store) Peer() *Store { return s.db.connect() }

// Close ends the process's connection, as its death does: calls and watches fail from here on, and
// its nodes are suspects at the next renewal of others. The database stays for the peers.
func (s *Store) Close() {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	s.db.peers = slices.DeleteFunc(s.db.peers, func(p *Store) bool { return p == s })
}

// enter begins a call: it locks the database and returns the time of the call. The caller unlocks.
// A context that is over is refused before anything happens, so a cancelled call has no unknown
// outcome.
func (s *Store) enter(ctx context.Context) (time.Time, error) {
	if ctx.Err() != nil {
		return time.Time{}, context.Cause(ctx)
	}
	s.db.mu.Lock()
	if s.closed {
		s.db.mu.Unlock()
		return time.Time{}, journal.ErrStoreClosed
	}
	s.db.caller = s
	return s.db.now(), nil
}

// database is what the peers share. These invariants hold whenever the lock is free:
//
//   - runs and sorted hold the same records.
//   - keys[k] is a record with the key k that says holdsKey, and every such record is there (J8).
//   - children holds the open children of each run, and nothing else.
//   - The task of an open run is in exactly one place, which its fields decide: with its owner in
//     held, in one of the queues if it waits for a time, or nowhere if it waits for a message or
//     for an operator. Of a closed run it is nowhere.
//
// dequeue and enqueue alone keep the last one. Whoever changes owner, route, priority, state or
// visibility of a task does it between the two, because the place is found by the values that the
// fields had when the task was put there.
type database struct {
	mu       lock // guards everything that follows, also inside of records
	clock    func() time.Time
	last     time.Time // the newest time that was told
	runs     map[journal.RunID]*record
	sorted   []*record                                   // by id
	keys     map[string]*record                          // the holders of keys (J8)
	children map[journal.RunID]map[journal.RunID]*record // the open ones, by parent
	queues   map[journal.Route]*queues
	held     map[journal.NodeID]*holding
	blocked  map[journal.RunID]*record
	nodes    map[journal.NodeID]*node
	audit    []journal.AuditEntry
	pauses   map[journal.Scope]journal.Pause
	limits   limits
	views    map[string]journal.View // by name
	paused   int64                   // number of the newest pause; it does not go back
	nodeLast journal.NodeID          // ids repeat only if the database goes back, see [Store.GoBack]
	joins    uint64                  // counts incarnations, and never goes back: it stands for chance
	caller   *Store                  // the process whose call this is
	enqueued uint64                  // counts placements: of tasks due at the same time, the first placed is the first claimed
	peers    []*Store
}

// connect returns the store of one more process. Peers are equal: the first has no part that the
// others lack, so a test can close any of them.
func (db *database) connect() *Store {
	db.mu.Lock()
	defer db.mu.Unlock()
	m := &Store{db: db, done: make(chan struct{}), members: map[journal.NodeID]*member{}}
	db.peers = append(db.peers, m)
	return m
}

// now returns the time of a call. It never goes back, even if the clock does: a task that was moved
// to the due ones stays due, and no event is earlier than the one before it (J9).
func (db *database) now() time.Time {
	if now := instant(db.clock()); now.After(db.last) {
		db.last = now
	}
	return db.last
}
