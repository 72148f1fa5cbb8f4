package pool

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// jobFunc is a function as a Job.
type jobFunc func(*Worker)

func (f jobFunc) Run(w *Worker) { f(w) }

// idleWorkers waits until nothing moves and returns how many workers are idle. The counters must be
// those of a pool at rest then.
func idleWorkers(t *testing.T, p *Pool) int {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != 0 || p.soonIdle != 0 || len(p.serving) != 0 || p.mailboxes.len() != 0 || p.jobs.len() != 0 {
		t.Errorf("at rest: %d running, %d soon idle, %d serving, %d mailboxes and %d jobs wait",
			p.running, p.soonIdle, len(p.serving), p.mailboxes.len(), p.jobs.len())
	}
	return len(p.idle)
}

// Mailboxes that do not return delay the others by a few looks, however many there are.
func TestStuckMailboxesDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, stuck, others = 2, 7, 1000
		p := New(size)
		held := make(chan struct{})
		var done atomic.Int64
		for range stuck {
			p.Schedule(func() { <-held })
		}
		for range others {
			p.Schedule(func() { done.Add(1) })
		}
		job := make(chan struct{})
		p.Do(jobFunc(func(*Worker) { close(job) }))
		<-job
		time.Sleep(stuck * 3 * lookEvery)
		synctest.Wait()
		if done.Load() != others {
			t.Errorf("%d of %d mailboxes were served", done.Load(), others)
		}
		close(held)
		if n := idleWorkers(t, p); n > stuck+size+1 {
			t.Errorf("%d workers for %d stuck mailboxes, %d others at a time and a job", n, stuck, size)
		}
		p.Close()
	})
}

// A worker executes what its own work has caused: no other one is woken while there is little to
// do.
func TestWorkerContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2)
		const rounds = 100
		ended := make(chan struct{})
		var step func(w *Worker)
		n := 0
		step = func(w *Worker) { // a step body ends, a turn is taken, a commit is asked for, its answer arrives
			w.ExpectIdle()
			p.Schedule(func() {
				if n++; n == rounds {
					close(ended)
					return
				}
				p.Do(jobFunc(step))
			})
		}
		p.Do(jobFunc(step))
		<-ended
		if got := idleWorkers(t, p); got != 1 {
			t.Errorf("%d workers worked", got)
		}
		p.Close()
	})
}

// A promise that is taken back, or not kept because the job ended its goroutine, loses nothing.
func TestBrokenPromise(t *testing.T) {
	for name, ending := range map[string]func(w *Worker, more chan struct{}){
		"cleared": func(w *Worker, more chan struct{}) { w.ClearIdle(); <-more },
		"goexit":  func(*Worker, chan struct{}) { goruntime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(1)
				served, more := make(chan struct{}), make(chan struct{})
				p.Do(jobFunc(func(w *Worker) {
					w.ExpectIdle()
					p.Schedule(func() { close(served) })
					ending(w, more)
				}))
				<-served
				close(more)
				idleWorkers(t, p)
				p.Close()
			})
		})
	}
}

// Trim ends the workers that were idle since the last Trim. Close ends the busy ones after their
// job, and work submitted after it is executed all the same.
func TestTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1)
		release := make(chan struct{})
		submit := func(n int) {
			for range n {
				p.Do(jobFunc(func(*Worker) { <-release }))
			}
			for range n {
				release <- struct{}{}
			}
		}
		submit(9)
		if n := idleWorkers(t, p); n != 9 {
			t.Errorf("%d workers after nine jobs at once", n)
		}
		p.Trim() // all were needed lately
		submit(4)
		if n := idleWorkers(t, p); n != 9 {
			t.Errorf("%d workers, want the nine from before", n)
		}
		p.Trim()
		if n := idleWorkers(t, p); n != 4 {
			t.Errorf("%d workers after a trim, want the four that were needed", n)
		}
		p.Do(jobFunc(func(*Worker) { <-release }))
		synctest.Wait()
		p.Close()
		release <- struct{}{}
		late := make(chan struct{}, 2)
		p.Schedule(func() { late <- struct{}{} })
		p.Do(jobFunc(func(*Worker) { late <- struct{}{} }))
		<-late
		<-late
	})
}

// Mailboxes are served in the order in which they were scheduled, also while the ring grows and
// turns.
func TestMailboxesKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1)
		var mu sync.Mutex
		var got []int
		for i := range 300 {
			p.Schedule(func() {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, i)
			})
			if i%50 == 0 {
				synctest.Wait()
			}
		}
		idleWorkers(t, p)
		for i := range got {
			if got[i] != i {
				t.Fatalf("mailbox %d came as number %d", got[i], i)
			}
		}
		if len(got) != 300 {
			t.Errorf("%d served", len(got))
		}
		p.Close()
	})
}
