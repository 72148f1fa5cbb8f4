package driver

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// waiterTTL is how long a process goes on sending HintClosed after it heard of a waiter elsewhere.
// Waiters repeat themselves every third of it.
const waiterTTL = 30 * time.Second

// hub spreads hints inside the process and knows which of them other processes need.
type hub struct {
	mu       *sync.Mutex
	watchers map[int]func(Hint)
	next     int
	nodes    map[journal.NodeID][]journal.Route // members that live in this process
	waiter   time.Time                          // when somebody elsewhere last said that it waits for results
}

func newHub() hub {
	return hub{mu: new(sync.Mutex), watchers: map[int]func(Hint){}, nodes: map[journal.NodeID][]journal.Route{}}
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
}

func (h *hub) serves(r journal.Route) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, routes := range h.nodes {
		if slices.Contains(routes, r) {
			return true
		}
	}
	return false
}

func (h *hub) hosts(id journal.NodeID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.nodes[id]
	return ok
}

func (h *hub) noteWaiter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiter = time.Now()
}

func (h *hub) remoteWaiters() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.waiter) < waiterTTL
}

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
