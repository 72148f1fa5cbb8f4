package replay

import (
	"container/heap"

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

	prev, next *strand // the machine's live strands in spawn order
}

// strands holds the live strands in spawn order, and which of them can go on.
type strands struct {
	first, last *strand
	spawned     int
	woken       wokenHeap
}

func (l *strands) spawn(fn func()) *strand {
	l.spawned++
	s := &strand{id: l.spawned, co: coro.New(fn), prev: l.last}
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
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

func (l *strands) remove(s *strand) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
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
