package replay

import (
	"container/heap"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// timers is a heap of the armed timers, the earliest first; of two due at once, the one issued
// first. A timer knows its place in it, so stopping one costs no search.
type timers []*Command

func (h *timers) arm(c *Command)    { heap.Push(h, c) }
func (h *timers) disarm(c *Command) { heap.Remove(h, int(c.heap)) }

// never is when a timer comes that stands still. No other timer is due as late, see
// [journal.DelayMax].
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// putOff is when a timer comes that is armed now, with the freezes that it meets.
func putOff(f journal.Freezes, now, due time.Time) time.Time {
	if len(f) == 0 {
		return due
	}
	at, _ := f.Due(now, due)
	if at.IsZero() {
		return never
	}
	return at
}

// Len implements heap.Interface, as do the methods below.
func (h timers) Len() int { return len(h) }

func (h timers) Less(i, k int) bool {
	if h[i].at.Equal(h[k].at) {
		return h[i].cmd < h[k].cmd
	}
	return h[i].at.Before(h[k].at)
}

func (h timers) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].heap, h[k].heap = int32(i), int32(k)
}

func (h *timers) Push(x any) {
	c := x.(*Command)
	c.heap = int32(len(*h))
	*h = append(*h, c)
}

func (h *timers) Pop() any {
	old := *h
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return c
}
