package batch

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/internal/pool"
)

// hanging is a Batcher of numbers whose write of a batch hangs that begins with a negative number,
// until the test lets it go.
type hanging struct {
	*Batcher[int, int]
	mu       sync.Mutex
	written  [][]int // as their writes begin
	answered []int
	free     map[int]chan struct{}
}

func newHanging() *hanging {
	h := &hanging{free: map[int]chan struct{}{}}
	for i := -9; i < 0; i++ {
		h.free[i] = make(chan struct{})
	}
	h.Batcher = New(100, func(batch []int) []int {
		h.mu.Lock()
		h.written = append(h.written, slices.Clone(batch))
		h.mu.Unlock()
		if batch[0] < 0 {
			<-h.free[batch[0]]
		}
		return slices.Clone(batch)
	})
	return h
}

func (h *hanging) submit(numbers ...int) {
	for _, n := range numbers {
		h.Submit(n, func(n int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.answered = append(h.answered, n)
		})
	}
}

// settle lets everything happen that happens within so much time.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *hanging) want(t *testing.T, what string, answered ...int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.answered, answered) {
		t.Errorf("%s: answered %v, want %v; written %v", what, h.answered, answered, h.written)
	}
}

// Calls do not wait for ever behind a write that hangs. Its own callers do, and it is answered when
// it ends; then everything is as before.
func TestAWriterThatHangsIsRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		h.submit(-1)
		settle(time.Millisecond)
		h.submit(1, 2)
		settle(patience / 2)
		h.want(t, "before patience ends")
		settle(2 * patience)
		h.want(t, "afterwards", 1, 2)
		h.submit(3)
		settle(time.Millisecond)
		h.want(t, "the next call waits for nobody", 1, 2, 3)
		close(h.free[-1])
		settle(time.Millisecond)
		h.want(t, "when the write has ended", 1, 2, 3, -1)
		h.Wait()
		if h.busy || h.relieved != 0 || h.writing {
			t.Errorf("busy %v, %d relieved, writing %v", h.busy, h.relieved, h.writing)
		}
		h.submit(4)
		settle(time.Millisecond)
		h.want(t, "at the end", 1, 2, 3, -1, 4)
	})
}

// A write behind which nobody waits may take as long as it takes, and nobody is relieved twice.
func TestNobodyIsRelievedWithoutNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		h.submit(-1)
		settle(10 * patience)
		if h.relieved != 0 {
			t.Errorf("%d relieved, and nobody waits", h.relieved)
		}
		h.submit(1)
		settle(10 * patience)
		if h.want(t, "relieved once", 1); h.relieved != 1 {
			t.Errorf("%d relieved", h.relieved)
		}
		close(h.free[-1])
		h.Wait()
	})
}

// As many writes hang as are allowed to; then calls wait for one of them.
func TestRelievedWritersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		for i := 1; i <= relievedMax+1; i++ {
			h.submit(-i)
			settle(3 * patience)
		}
		h.submit(1)
		settle(10 * patience)
		if h.want(t, "all hang"); h.relieved != relievedMax || len(h.written) != relievedMax+1 {
			t.Errorf("%d relieved, %d writes", h.relieved, len(h.written))
		}
		close(h.free[-2])
		settle(3 * patience)
		h.want(t, "one has ended", -2, 1)
		for i := 1; i <= relievedMax+1; i++ {
			if i != 2 {
				close(h.free[-i])
			}
		}
		h.Wait()
		if len(h.answered) != relievedMax+2 || h.busy || h.relieved != 0 {
			t.Errorf("answered %v, busy %v, %d relieved", h.answered, h.busy, h.relieved)
		}
	})
}

// A caller who writes its batch itself may hang too: it answers its own batch and no other.
func TestAnInlineWriterIsRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		returned := make(chan struct{})
		go func() {
			h.SubmitInline(-1, func(int) {})
			close(returned)
		}()
		settle(time.Millisecond)
		h.submit(1)
		settle(3 * patience)
		h.want(t, "relieved", 1)
		h.submit(-2)
		settle(time.Millisecond)
		h.submit(2)
		close(h.free[-1])
		<-returned
		settle(time.Millisecond)
		h.want(t, "the caller has gone", 1)
		close(h.free[-2])
		h.Wait()
		h.want(t, "all of them", 1, -2, 2)
		if h.busy || h.relieved != 0 {
			t.Errorf("busy %v, %d relieved", h.busy, h.relieved)
		}
	})
}

// A writer that is about to take a batch is not slow, however long its goroutine takes to begin: it
// takes all that waits, and nobody is relieved for it. This is so when a caller who wrote inline
// has handed the role on, and when a relief is on its way.
func TestAWriterWhoBeginsLateIsNotRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		begin := make(chan struct{})
		h.RunOn(func(job pool.Job) { go func() { <-begin; job.Run(nil) }() })
		returned := make(chan struct{})
		go func() {
			h.SubmitInline(-1, func(int) {})
			close(returned)
		}()
		settle(time.Millisecond)
		h.submit(1)
		close(h.free[-1])
		<-returned
		settle(10 * patience)
		if h.want(t, "handed on"); h.relieved != 0 {
			t.Errorf("%d relieved, and nobody writes", h.relieved)
		}
		begin <- struct{}{}
		settle(time.Millisecond)
		h.want(t, "it began", 1)

		h.submit(-2)
		begin <- struct{}{}
		settle(time.Millisecond)
		h.submit(2)
		settle(10 * patience)
		if h.relieved != 1 {
			t.Errorf("%d relieved by one who has not begun", h.relieved)
		}
		close(h.free[-2])
		settle(10 * patience)
		h.want(t, "the relieved one has gone", 1, -2)
		begin <- struct{}{}
		h.Wait()
		h.want(t, "its relief began", 1, -2, 2)
		if h.busy || h.relieved != 0 {
			t.Errorf("busy %v, %d relieved", h.busy, h.relieved)
		}
	})
}

// Writes that end in time relieve nobody, however many calls wait all the time.
func TestASteadyLoadRelievesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1, func(batch []int) []int {
			time.Sleep(patience * 2 / 3)
			return slices.Clone(batch)
		})
		for i := range 30 {
			b.Submit(i, func(int) {
				if b.mu.Lock(); b.relieved != 0 {
					t.Errorf("%d relieved at %d", b.relieved, i)
				}
				b.mu.Unlock()
			})
		}
		b.Wait()
	})
}

// A relieved writer whose batch has the memory of a crowd knows that it was relieved.
func TestARelievedWriterOfALargeBatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanging()
		h.max = 2
		h.submit(-1)
		settle(time.Millisecond)
		for i := 1; i <= 18; i++ {
			h.submit(i)
		}
		h.submit(-2, 19)
		close(h.free[-1])
		settle(time.Millisecond)
		h.submit(20)
		settle(3 * patience)
		if h.relieved != 1 {
			t.Fatalf("%d relieved, want the writer of a batch that hangs", h.relieved)
		}
		close(h.free[-2])
		h.Wait()
		if h.busy || h.relieved != 0 || len(h.answered) != 22 {
			t.Errorf("busy %v, %d relieved, answered %v", h.busy, h.relieved, h.answered)
		}
	})
}
