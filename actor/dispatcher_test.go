package actor

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Mailboxes that do not return cost the others nothing but a moment, however many there are, and the goroutines that took their
// places go again.
func TestDispatcherServesPastStuckMailboxes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, stuck, others = 2, 7, 1000
		d := newDispatcher(size)
		held := make(chan struct{})
		var done, peak atomic.Int64
		for range stuck {
			d.Schedule(func() { <-held })
		}
		for range others {
			d.Schedule(func() { done.Add(1) })
		}
		time.Sleep(stuck * 3 * mailboxLook)
		synctest.Wait()
		if done.Load() != others {
			t.Errorf("%d of %d mailboxes were served", done.Load(), others)
		}
		d.mu.Lock()
		peak.Store(int64(len(d.workers)))
		d.mu.Unlock()
		if peak.Load() > stuck+size {
			t.Errorf("%d workers", peak.Load())
		}
		close(held)
		synctest.Wait()
		d.mu.Lock()
		if len(d.workers) > size || d.at != len(d.workers) || d.idle != d.at {
			t.Errorf("%d workers stay, %d count, %d are idle", len(d.workers), d.at, d.idle)
		}
		d.mu.Unlock()
		d.end()
	})
}

func TestDispatcherKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(1)
		var mu sync.Mutex
		var got []int
		for i := range 300 { // the ring grows while it is turned
			d.Schedule(func() {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, i)
			})
			if i%50 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		for i := range got {
			if got[i] != i {
				t.Fatalf("mailbox %d came as number %d", got[i], i)
			}
		}
		if len(got) != 300 {
			t.Errorf("%d served", len(got))
		}
		d.end()
		late := make(chan struct{})
		d.Schedule(func() { close(late) })
		<-late
	})
}
