package driver

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

const (
	// waiterTTL is how long a process goes on sending HintClosed after it heard of a waiter
	// elsewhere. Waiters repeat themselves every third of it.
	waiterTTL = 30 * time.Second
	// announcementMax is how long an announcement may be under way to count as one that came while
	// a run was closed. A longer one leaves its waiter to the poll.
	announcementMax = 5 * time.Second
)

// hub publishes hints inside the process and knows which of them other processes need.
//
// A hint decides nothing: it only ends somebody's wait before the next poll. So the hub may be
// wrong in either direction, and it is built to be cheap rather than exact. What it must not do is
// keep a hint inside this process for a node that is not here any more, because then the work waits
// for a poll of somebody else. Three rules exclude that for more than a moment:
//
//   - A node is in the hub from the end of its Join until the beginning of its Leave, or until a
//     renewal says that it was declared dead.
//   - Leave takes the node out first and publishes HintTasks to other processes last. A hint that
//     was kept here for the leaving node is made good by that one.
//   - Whoever frees the tasks of a dead node publishes HintTasks to everybody.
//
// HintClosed goes to other processes only while one of them has said lately that it waits for
// results, since most runs are awaited by nobody or by their own process, and a notification costs
// the store more than the commit's own rows. A first waiter announces itself and then reads its
// run, which may close behind the read and before the announcement comes. So who hears of a first
// waiter, and has kept a HintClosed to itself a moment ago, says with a HintClosed without a run
// that something has closed.
//
// publish calls the watchers without the lock, so that a watcher may use the journal. A watcher can
// therefore be called once more after its Watch has returned.
type hub struct {
	mu       *sync.Mutex
	watchers map[int]func(Hint)
	next     int
	nodes    map[journal.NodeID][]journal.Route // members that live in this process
	full     map[journal.NodeID]bool            // those of them that claim nothing now
	waiter   time.Time                          // when somebody elsewhere last said that it waits for results
	kept     time.Time                          // when a HintClosed was last kept here, because nobody did
}

func newHub() hub {
	return hub{mu: new(sync.Mutex), watchers: map[int]func(Hint){}, nodes: map[journal.NodeID][]journal.Route{}, full: map[journal.NodeID]bool{}}
}

func (h *hub) join(id journal.NodeID, routes []journal.Route) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes[id] = routes
}

func (h *hub) leave(id journal.NodeID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.nodes, id)
	delete(h.full, id)
}

// setFull says whether a member of this process claims nothing, because it has no room.
func (h *hub) setFull(id journal.NodeID, full bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, member := h.nodes[id]; member && full {
		h.full[id] = true
	} else {
		delete(h.full, id)
	}
}

// serves tells whether a node of this process takes runs of a route, and whether one of those has
// room for one.
func (h *hub) serves(r journal.Route) (serves, hasRoom bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, routes := range h.nodes {
		if slices.Contains(routes, r) {
			serves, hasRoom = true, hasRoom || !h.full[id]
		}
	}
	return serves, hasRoom
}

// hasNodes tells whether any node lives in this process.
func (h *hub) hasNodes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.nodes) > 0
}

// hosts tells whether a node lives in this process.
func (h *hub) hosts(id journal.NodeID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.nodes[id]
	return ok
}

// noteWaiter notes that somebody elsewhere waits for results, and tells whether it may have missed
// one that was kept here.
func (h *hub) noteWaiter() (missed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	missed = h.kept.After(h.waiter) && time.Since(h.kept) < announcementMax
	h.waiter = time.Now()
	return missed
}

// closing tells whether somebody elsewhere waits for results. The runs have closed by now, so who
// announces itself later either reads their ends or is told by noteWaiter that it may have missed
// them.
func (h *hub) closing() (waiters bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.waiter) < waiterTTL {
		return true
	}
	h.kept = time.Now()
	return false
}

// publish calls every watcher with every hint, on the caller's goroutine.
func (h *hub) publish(hints ...Hint) {
	h.mu.Lock()
	fns := slices.Collect(maps.Values(h.watchers))
	h.mu.Unlock()
	for _, fn := range fns {
		for _, hint := range hints {
			fn(hint)
		}
	}
}
