package batch

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/internal/pool"
)

// sized is a Batcher of numbers that are sizes. A write takes as long as its bytes need at a
// megabyte a second, and one that has a number of the test's choice takes too long: its answers are
// -1 after tooLong.
type sized struct {
	*Batcher[int, int]
	mu       sync.Mutex
	broken   map[int]bool
	written  [][]int
	answered []int
}

const tooLong = 30 * time.Second

func newSized(broken ...int) *sized {
	s := &sized{broken: map[int]bool{}}
	for _, n := range broken {
		s.broken[n] = true
	}
	s.Batcher = New(100, func(batch []int) []int {
		out, bytes, late := slices.Clone(batch), 0, false
		s.mu.Lock()
		s.written = append(s.written, out)
		for _, n := range batch {
			bytes, late = bytes+n, late || s.broken[n]
		}
		s.mu.Unlock()
		if out = slices.Clone(batch); !late {
			time.Sleep(time.Duration(bytes) * time.Second >> 20)
			return out
		}
		time.Sleep(tooLong)
		for i := range out {
			out[i] = -1
		}
		return out
	})
	s.SetAside(func(n int) bool { return n == -2 })
	s.SetSize(func(n int) int { return n })
	s.SetDivide(func(n int) bool { return n == -1 })
	return s
}

func (s *sized) submit(numbers ...int) {
	for _, n := range numbers {
		s.Submit(n, func(n int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.answered = append(s.answered, n)
		})
	}
}

// writes returns the batches whose writes have begun.
func (s *sized) writes() [][]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.written)
}

// large is how many writes of large calls have begun.
func (s *sized) large() (n int) {
	for _, batch := range s.writes() {
		if slices.Max(batch) >= largeBytes {
			n++
		}
	}
	return n
}

func (s *sized) sorted() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.answered))
}

// A large call goes alone and nobody waits for it, whether it comes first, last or inline.
func TestALargeCallGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSized()
		s.submit(10<<20, 1, 11<<20, 2)
		s.SubmitInline(3, func(int) {})
		settle(time.Millisecond)
		if got := s.sorted(); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("answered %v, want the small ones; written %v", got, s.writes())
		}
		s.SubmitInline(12<<20, func(int) {}) // the lane is full, and the caller returns
		settle(time.Millisecond)
		for _, batch := range s.writes() {
			if len(batch) > 1 && slices.Max(batch) >= largeBytes {
				t.Errorf("a large call is in a batch: %v", batch)
			}
		}
		if s.large() != 2 { // how many the small ones are in depends on who is first
			t.Errorf("%d writes of large calls, want two: %v", s.large(), s.writes())
		}
		s.Wait()
		if got := s.sorted(); !slices.Equal(got, []int{1, 2, 10 << 20, 11 << 20}) || s.large() != 3 {
			t.Errorf("at the end: %v, written %v", got, s.writes())
		}
	})
}

// Together small calls are no larger than a batch may be, and none is left behind.
func TestABatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSized()
		s.submit(1)
		settle(0)
		const size, n = largeBytes - 1, 22
		for range n {
			s.submit(size)
		}
		s.Wait()
		for _, batch := range s.writes() {
			if len(batch)*size > bytesMax && len(batch) > 1 {
				t.Errorf("a batch of %d calls of a megabyte", len(batch))
			}
		}
		if len(s.sorted()) != n+1 || s.bytes != 0 || s.busy {
			t.Errorf("%d answered, %d bytes left, busy %v", len(s.sorted()), s.bytes, s.busy)
		}
	})
}

// The batch of a call that takes too long is divided until that call is alone. It is tried again
// then, at longer and longer intervals, and neither other calls nor large ones wait for it.
func TestABatchThatTakesTooLongIsDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const culprit = 77
		s := newSized(culprit)
		block := make(chan struct{})
		s.RunOn(func(job pool.Job) { go func() { <-block; job.Run(nil) }() })
		s.submit(1, 2, 3, 4, 5, culprit, 6, 7)
		close(block)
		settle(4*tooLong + time.Second) // eight, four, two, and alone
		if got := s.sorted(); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("answered %v; written %v", got, s.writes())
		}
		settle(20 * tooLong)
		before := len(s.writes())
		s.submit(8, 2<<20)
		settle(3 * time.Second)
		if got := s.sorted(); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6, 7, 8, 2 << 20}) {
			t.Errorf("beside the culprit: answered %v", got)
		}
		if tries := before - 7; tries != 18 { // five writes of others and two with them; 20 without pauses that grow
			t.Errorf("%d tries of the culprit in 20 times its time: %v", tries, s.writes())
		}
		s.mu.Lock()
		clear(s.broken)
		s.mu.Unlock()
		s.Wait()
		if got := s.sorted(); !slices.Contains(got, culprit) || len(got) != 10 {
			t.Errorf("at the end: %v", got)
		}
	})
}

// Calls that take too long alone wait for each other only.
func TestSlowCallsDoNotHoldUpLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSized(2<<20, 3<<20, 4<<20)
		s.submit(2<<20, 3<<20, 4<<20)
		settle(5 * tooLong)
		s.submit(5<<20, 6<<20)
		settle(7 * time.Second)
		if got := s.sorted(); !slices.Equal(got, []int{5 << 20, 6 << 20}) {
			t.Errorf("answered %v; written %v", got, s.writes())
		}
		s.mu.Lock()
		clear(s.broken)
		s.mu.Unlock()
		s.Wait()
		if len(s.sorted()) != 5 {
			t.Errorf("at the end: %v", s.sorted())
		}
	})
}
