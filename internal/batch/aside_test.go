package batch

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// held is a Batcher of numbers some of which cannot be written as long as the test says so. The
// answer to such a number is 0.
type held struct {
	*Batcher[int, int]
	mu       sync.Mutex
	holds    map[int]bool
	tries    map[int]int
	answered []int
}

func newHeld(holds ...int) *held {
	h := &held{holds: map[int]bool{}, tries: map[int]int{}}
	for _, n := range holds {
		h.holds[n] = true
	}
	h.Batcher = New(100, func(batch []int) []int {
		h.mu.Lock()
		defer h.mu.Unlock()
		out := slices.Clone(batch)
		for i, n := range batch {
			if h.tries[n]++; h.holds[n] {
				out[i] = 0
			}
		}
		return out
	})
	h.SetAside(func(n int) bool { return n == 0 })
	return h
}

func (h *held) submit(numbers ...int) {
	for _, n := range numbers {
		h.Submit(n, func(n int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.answered = append(h.answered, n)
		})
	}
}

// A call that is held is tried again until it is not, and everybody else goes on meanwhile. The
// Batcher is not idle before that.
func TestHeldCallsWaitAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(2, 3)
		h.submit(1, 2, 3, 4)
		synctest.Wait()
		h.submit(5)
		time.Sleep(10*asidePause + asidePause/2)
		synctest.Wait()
		if !slices.Equal(h.answered, []int{1, 4, 5}) || h.tries[2] != 11 || h.tries[1] != 1 {
			t.Errorf("answered %v after tries %v", h.answered, h.tries)
		}
		idle := make(chan struct{})
		go func() { h.Wait(); close(idle) }()
		h.mu.Lock()
		delete(h.holds, 3)
		h.mu.Unlock()
		time.Sleep(asidePause)
		synctest.Wait()
		select {
		case <-idle:
			t.Error("idle before every call has its answer")
		default:
		}
		h.mu.Lock()
		delete(h.holds, 2)
		h.mu.Unlock()
		<-idle
		synctest.Wait()
		if !slices.Equal(h.answered, []int{1, 4, 5, 3, 2}) {
			t.Errorf("answered %v", h.answered)
		}
	})
}
