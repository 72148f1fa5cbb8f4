package worker

import (
	"context"
	"sync"
)

// startGate counts the batches in flight that may make this node the owner of runs, so that the end
// of the membership can wait for them.
//
// Why it must: Leave frees everything that the node owns at that moment. A start that commits a
// moment later makes a run owned by a node that is gone. No node would claim it before a sweep,
// leases later. close and enter exclude that race under one mutex: a batch that entered before
// close is waited for, and one that comes after is turned away and starts its runs without an
// owner, for anybody to claim.
//
// The wait is bounded. A batch of a client lasts as long as its callers have patience, and a drain
// must end; what is left over is the sweep's.
type startGate struct {
	mu     sync.Mutex
	closed bool
	n      int           // batches inside
	empty  chan struct{} // made by close; closed when n is 0 after that
}

// enter tells whether a batch may own runs. If so, leave must follow.
func (g *startGate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

func (g *startGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n--; g.n == 0 && g.closed {
		close(g.empty)
	}
}

// close turns away every further batch. It may be called again.
func (g *startGate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed, g.empty = true, make(chan struct{})
	if g.n == 0 {
		close(g.empty)
	}
}

// wait returns when no batch is inside, or ctx ends. The gate must be closed.
func (g *startGate) wait(ctx context.Context) {
	select {
	case <-g.empty:
	case <-ctx.Done():
	}
}
