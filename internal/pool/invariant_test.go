package pool

import (
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"testing"
	"time"
)

// check compares the counters with what they count, and the promised workers with the runnable
// work.
func (p *Pool) check(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	runnable := p.jobs.len() + min(p.mailboxes.len(), max(p.size-p.running, 0))
	if p.soonIdle < runnable {
		t.Errorf("%d workers will look for work, but %d pieces may begin", p.soonIdle, runnable)
	}
	running := 0
	for _, w := range p.serving {
		if !w.writtenOff {
			running++
		}
		if w.promised == w.writtenOff {
			t.Error("a worker with a mailbox is promised exactly while the mailbox is not written off")
		}
	}
	if running != p.running || running > p.size {
		t.Errorf("%d mailboxes run and %d are counted, at most %d may", running, p.running, p.size)
	}
	for _, w := range p.idle {
		if w.promised {
			t.Error("an idle worker is promised")
		}
	}
	if p.unused > len(p.idle) {
		t.Errorf("%d workers are superfluous, but %d are idle", p.unused, len(p.idle))
	}
	if waiting := p.jobs.len() + p.mailboxes.len(); waiting > 0 && !p.looking && !p.closed {
		t.Errorf("%d pieces wait and nobody looks", waiting)
	}
}

// load submits random mailboxes and jobs, and counts those that have not ended.
type load struct {
	t    *testing.T
	pool *Pool
	work sync.WaitGroup
}

// mailbox returns at once, or hangs for some looks.
func (l *load) mailbox(hangs bool) {
	l.work.Add(1)
	l.pool.Schedule(func() {
		defer l.work.Done()
		if hangs {
			time.Sleep(3 * lookEvery)
		}
		l.pool.check(l.t)
	})
}

// job may promise to return, take that back, cause more work, and end its goroutine.
func (l *load) job(random *rand.Rand) {
	const expect, clears, more, goexit = 1, 2, 4, 8
	does := random.IntN(16)
	l.work.Add(1)
	l.pool.Do(jobFunc(func(w *Worker) {
		defer l.work.Done()
		if does&expect != 0 {
			w.ExpectIdle()
		}
		if does&more != 0 {
			l.mailbox(false)
		}
		if does&clears != 0 {
			w.ClearIdle()
			l.pool.check(l.t)
			time.Sleep(lookEvery / 4)
		}
		l.pool.check(l.t)
		if does&goexit != 0 {
			goruntime.Goexit()
		}
	}))
}

// The invariant holds whenever the lock is free, whatever mailboxes and jobs do.
func TestInvariant(t *testing.T) {
	l := load{t: t, pool: New(2)}
	var submitters sync.WaitGroup
	for i := range uint64(3) {
		submitters.Go(func() {
			random := rand.New(rand.NewPCG(1, i))
			for range 500 {
				if random.IntN(2) == 0 {
					l.mailbox(random.IntN(50) == 0)
				} else {
					l.job(random)
				}
				l.pool.check(t)
				switch random.IntN(20) {
				case 0:
					l.pool.Trim()
				case 1, 2, 3, 4: // let the pool come to rest now and then
					time.Sleep(lookEvery)
				}
			}
		})
	}
	submitters.Wait()
	l.work.Wait()
	l.pool.Close()
	l.pool.check(t)
}
