package replay

import (
	"container/heap"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/replay/internal/coro"
)

// strand is one coroutine of workflow code. The root strand runs the workflow's function.
type strand struct {
	id      int // in spawn order
	co      *coro.Coro
	woken   bool
	answers bool                // it runs the handler of an update
	calm    uintptr             // see panicking
	waiters []waiter            // what it waits for while parked; kept to be used again
	where   *[framesMax]uintptr // who called, if it waits for other strands, up to the first zero; kept as well

	node list.Node[strand] // in the list of live strands
}

// strands holds the live strands in spawn order, and which of them can go on.
type strands struct {
	live    list.List[strand] // in spawn order
	spawned int
	woken   wokenHeap
}

func (l *strands) spawn(fn func()) *strand {
	l.spawned++
	s := &strand{id: l.spawned, co: coro.New(fn)}
	l.live.PushBack(&s.node, s)
	l.wake(s)
	return s
}

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
