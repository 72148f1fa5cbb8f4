package replay

import (
	"container/heap"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/goroutine"
	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/replay/internal/coro"
)

// strand is one coroutine of workflow code. The root strand runs the workflow's function.
type strand struct {
	co           *coro.Coro          // nil for the onlooker: see sched.ReadOnly
	visitor      atomic.Int64        // the onlooker's goroutine
	id           int32               // in spawn order, from 1
	woken        bool                // it is in strands.woken
	answers      bool                // it runs the handler of an update
	checkedDepth uintptr             // see panicking
	waiters      []waiter            // what it waits for while parked; kept to be used again
	where        *[framesMax]uintptr // see mark; kept to be used again
	node         list.Node[strand]   // in strands.live
}

// strands holds the live strands, and which of them can go on.
//
// The order in which strands run is part of what replay must repeat, so it depends on nothing but
// the code: of those that can go on the one that was spawned first runs next, whoever woke it and
// when. A heap gives it; the list serves everything that goes through all strands.
type strands struct {
	live    list.List[strand] // in spawn order
	spawned int32
	woken   wokenHeap
}

// spawn makes a strand that first runs when it is popped.
func (l *strands) spawn(fn func()) *strand {
	l.spawned++
	s := &strand{id: l.spawned, co: coro.New(fn)}
	l.live.PushBack(&s.node, s)
	l.wake(s)
	return s
}

// wake lets a strand look again at what it waits for. Waking one that is awake does nothing.
func (l *strands) wake(s *strand) {
	if !s.woken {
		s.woken = true
		heap.Push(&l.woken, s)
	}
}

// pop returns the strand to run: of all that can go on the one that was spawned first.
func (l *strands) pop() *strand {
	if len(l.woken) == 0 {
		return nil
	}
	s := heap.Pop(&l.woken).(*strand)
	s.woken = false
	return s
}

// remove takes out a strand that has ended.
func (l *strands) remove(s *strand) { l.live.Remove(&s.node) }

// here tells whether the caller is the strand's code, or what it calls. A nil strand has none.
func (s *strand) here() bool {
	switch {
	case s == nil:
		return false
	case s.co == nil:
		return s.visitor.Load() == goroutine.ID()
	}
	return s.co.Here()
}

// internal tells whether the strand is about to wait for nothing but other strands.
func (s *strand) internal() bool {
	for i := range s.waiters {
		if !s.waiters[i].cond.Internal {
			return false
		}
	}
	return len(s.waiters) > 0
}

// mark keeps where the strand waits, as program counters: finding the line costs more, and most
// waits end well, so that is left to Stuck.
func (s *strand) mark() {
	if s.where == nil {
		s.where = new([framesMax]uintptr)
	}
	if n := runtime.Callers(3, s.where[:]); n < framesMax { // without Callers, mark and park
		s.where[n] = 0
	}
}

func (s *strand) unmark() {
	if s.where != nil {
		s.where[0] = 0
	}
}

// site is the call with which the strand waits for other strands, the zero Site if it does not.
func (s *strand) site() callsite.Site {
	if s.where == nil {
		return callsite.Site{}
	}
	n := slices.Index(s.where[:], 0)
	if n < 0 {
		n = framesMax
	}
	return callsite.Of(s.where[:n])
}

// wokenHeap orders strands by when they were spawned.
type wokenHeap []*strand

func (h wokenHeap) Len() int           { return len(h) }
func (h wokenHeap) Less(i, k int) bool { return h[i].id < h[k].id }
func (h wokenHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *wokenHeap) Push(x any)        { *h = append(*h, x.(*strand)) }
func (h *wokenHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return s
}
