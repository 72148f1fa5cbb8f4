package actor

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// idleHands waits until nothing moves and returns how many hands are idle. What they count must fit then.
func idleHands(t *testing.T, s *hands) int {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != 0 || s.coming != 0 || len(s.serving) != 0 || s.mailboxes.len() != 0 || s.errands.len() != 0 {
		t.Errorf("at rest: %d at mailboxes, %d coming, %d serving, %d mailboxes and %d errands wait",
			s.at, s.coming, len(s.serving), s.mailboxes.len(), s.errands.len())
	}
	return len(s.idle)
}

// Mailboxes that do not return cost the others nothing but a moment, however many there are.
func TestHandsServePastStuckMailboxes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, stuck, others = 2, 7, 1000
		s := newHands(size)
		held := make(chan struct{})
		var done atomic.Int64
		for range stuck {
			s.Schedule(func() { <-held })
		}
		for range others {
			s.Schedule(func() { done.Add(1) })
		}
		errand := make(chan struct{})
		s.do(func(*Hand) { close(errand) })
		<-errand
		time.Sleep(stuck * 3 * handsLook)
		synctest.Wait()
		if done.Load() != others {
			t.Errorf("%d of %d mailboxes were served", done.Load(), others)
		}
		close(held)
		if n := idleHands(t, s); n > stuck+size+1 {
			t.Errorf("%d hands for %d stuck mailboxes, %d others at a time and an errand", n, stuck, size)
		}
		s.end()
	})
}

// What one hand causes, it goes on with itself: no other is woken while there is little to do.
func TestHandGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHands(2)
		const rounds = 100
		ended := make(chan struct{})
		var step func(h *Hand)
		n := 0
		step = func(h *Hand) { // a body, whose end is a turn, which asks for a commit, which is answered
			h.Soon()
			s.Schedule(func() {
				if n++; n == rounds {
					close(ended)
					return
				}
				s.do(step)
			})
		}
		s.do(step)
		<-ended
		if got := idleHands(t, s); got != 1 {
			t.Errorf("%d hands worked", got)
		}
		s.end()
	})
}

// A promise that is taken back, or not kept because the errand ended its goroutine, loses nothing.
func TestHandBreaksItsPromise(t *testing.T) {
	for name, ending := range map[string]func(h *Hand, more chan struct{}){
		"busy":   func(h *Hand, more chan struct{}) { h.Busy(); <-more },
		"goexit": func(*Hand, chan struct{}) { goruntime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newHands(1)
				served, more := make(chan struct{}), make(chan struct{})
				s.do(func(h *Hand) {
					h.Soon()
					s.Schedule(func() { close(served) })
					ending(h, more)
				})
				<-served
				close(more)
				idleHands(t, s)
				s.end()
			})
		})
	}
}

// Hands that nobody has needed since the last trim are let go. Those that work when all end do so after their errand.
func TestHandsTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHands(1)
		release := make(chan struct{})
		errands := func(n int) {
			for range n {
				s.do(func(*Hand) { <-release })
			}
			for range n {
				release <- struct{}{}
			}
		}
		errands(9)
		if n := idleHands(t, s); n != 9 {
			t.Errorf("%d hands after nine errands at once", n)
		}
		s.trim() // all were needed lately
		errands(4)
		if n := idleHands(t, s); n != 9 {
			t.Errorf("%d hands, want the nine from before", n)
		}
		s.trim()
		if n := idleHands(t, s); n != 4 {
			t.Errorf("%d hands after a trim, want the four that were needed", n)
		}
		s.do(func(*Hand) { <-release })
		synctest.Wait()
		s.end()
		release <- struct{}{}
		late := make(chan struct{}, 2)
		s.Schedule(func() { late <- struct{}{} })
		s.do(func(*Hand) { late <- struct{}{} })
		<-late
		<-late
	})
}

// Mailboxes are served in the order in which they were scheduled, also while the ring grows and turns.
func TestHandsKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHands(1)
		var mu sync.Mutex
		var got []int
		for i := range 300 {
			s.Schedule(func() {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, i)
			})
			if i%50 == 0 {
				synctest.Wait()
			}
		}
		idleHands(t, s)
		for i := range got {
			if got[i] != i {
				t.Fatalf("mailbox %d came as number %d", got[i], i)
			}
		}
		if len(got) != 300 {
			t.Errorf("%d served", len(got))
		}
		s.end()
	})
}
