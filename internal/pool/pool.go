package pool

import (
	"sync"
	"time"
)

// Pool executes mailboxes and jobs. At most size mailboxes run at once, not counting those that
// were written off; jobs have no limit but their submitters', because a job may block.
//
// # Why not one goroutine for each piece of work
//
// The work of a durable run is a chain: a step's body ends, its run's mailbox takes a turn, the
// turn is written by a batch, the answer comes back to the mailbox. Waking a goroutine for each
// link costs a third of a commit. So a worker that is about to be free takes the next link itself,
// and nobody else is woken for it. Workers are also kept when there is nothing to do, because their
// stacks have already grown to what a turn or a body needs.
//
// # State
//
// A worker is always in one of four states, and only p.mu moves it from one to another:
//
//	idle       in p.idle, asleep on its wake channel (or about to sleep there)
//	promised   counted in soonIdle: it will call next without anyone waking it. It was just woken,
//	           or runs a mailbox, or runs a job that said ExpectIdle
//	busy       runs a job that has promised nothing
//	lost       runs a mailbox that look has written off
//
// The counters, with what each one means:
//
//	mailboxes  queued mailboxes, each a function of the actor library that runs one actor for a while
//	jobs       queued jobs
//	running    mailboxes that are executing and are not written off; ≤ size
//	serving    the workers that execute a mailbox, written off or not
//	soonIdle   the promised workers
//	unused     the smallest len(idle) since the last Trim: that many workers were not needed
//	round      looks so far; a worker notes it when it begins a mailbox
//
// # Invariant
//
// Call a queued piece of work runnable if it may begin now: every job, and as many mailboxes as
// there are free places, min(len(mailboxes), size-running). Whenever p.mu is free,
//
//	soonIdle ≥ the number of runnable pieces of work                                   (I)
//
// So each runnable piece has a worker that will ask for work. A mailbox that is not runnable waits
// for a place, and a place becomes free in next or in look, which balance. So (I) alone keeps work
// from being forgotten. Each change under the lock keeps it:
//
//   - Schedule and Do add one piece of work, then call balance, which wakes workers (or makes some)
//     until (I) holds.
//   - next gives back the place of the caller's last mailbox, removes the caller from the promised
//     workers, takes at most one piece, then calls balance. A worker that finds nothing to take
//     joins idle in the same critical section.
//   - ExpectIdle adds a promise, which only helps (I). ClearIdle takes one back and balances.
//   - look takes promises back and frees places, then balances.
//   - Trim and Close remove idle workers, which (I) does not count.
//
// # Why no wake-up is lost
//
// A worker decides to sleep while it holds the lock, after it has seen that there is nothing for
// it, and is in idle from then on. Work added later finds it there. wakeOne removes the worker from
// idle before it sends, so a worker has at most one token underway; the channel holds one, so the
// send never blocks, and the token waits if the worker has not come to its receive yet.
//
// # Why a promised worker counts, and what look repairs
//
// A promise is worth as much as the time until it is kept. A job that says ExpectIdle has only to
// send what it has found out and return, which takes microseconds. It must not block from then on
// unless it says ClearIdle first: nothing else repairs a broken promise of a job. Should the job
// end its goroutine instead (runtime.Goexit), the worker is gone, and run takes the promise back.
//
// Mailboxes promise too, because a turn is short. But workflow code runs in them, and code may
// compute for seconds or hang. While work is queued, look comes every lookEvery. A mailbox that
// began before the previous look is written off: its promise and its place are taken back, so
// others get both. It keeps its goroutine until it returns, which is why hanging code costs a
// goroutine and no throughput. Nobody looks while nothing is queued: then nobody waits.
//
// Mailboxes go before jobs, so that workers that serve mailboxes go on doing so. Up to size jobs
// may therefore wait while mailboxes keep arriving. That ends by itself: nearly all messages are
// answers to jobs, so the mailboxes run dry while jobs wait.
//
// # Close
//
// After Close what is queued is still executed, and each worker ends when it finds nothing more.
// Work that comes later gets a goroutine of its own: it is the end of a step or a late answer,
// which must not be lost but need not be fast. Nobody looks any more, so what is queued behind
// hanging code at that moment stays there; its system has been killed, and nobody reads its result.
//
// # Locks
//
// p.mu is the only lock and is a leaf: no mailbox, job or other foreign code runs under it, and
// nothing under it blocks.
type Pool struct {
	size int // how many mailboxes may run at once

	mu        sync.Mutex
	mailboxes fifo[func()]
	jobs      fifo[Job]
	idle      []*Worker // the latest one last: it is woken first, its stack is warm
	unused    int
	serving   []*Worker
	running   int
	soonIdle  int
	round     uint64
	looking   bool // a look is scheduled
	closed    bool
}

// Job is work that may block. It gets the worker it runs on, nil if that is no worker of a pool.
//
// It is an interface and no function: what a job works on is an object anyway, and a function would
// be another one for each job.
type Job interface{ Run(w *Worker) }

// Worker is one goroutine of a pool. Its methods are for the job that runs on it.
// A nil *Worker is valid and stands for a goroutine outside the pool; its methods do nothing.
type Worker struct {
	pool *Pool
	wake chan struct{} // a token starts the worker, closing ends it

	// Guarded by pool.mu.
	promised   bool   // counted in pool.soonIdle
	writtenOff bool   // its mailbox lost its place: see look
	round      uint64 // in which its mailbox began
}

// New returns a pool that runs size mailboxes at once. It has no workers until there is work.
func New(size int) *Pool { return &Pool{size: size} }

// Throughput implements protoactor's Dispatcher: how many messages of one mailbox are handled
// before others get their turn.
func (p *Pool) Throughput() int { return mailboxThroughput }

// Schedule implements protoactor's Dispatcher. It never blocks.
func (p *Pool) Schedule(mailbox func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go mailbox()
		return
	}
	p.mailboxes.push(mailbox)
	p.balance()
}

// Do executes a job. It never blocks.
func (p *Pool) Do(job Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go job.Run(nil)
		return
	}
	p.jobs.push(job)
	p.balance()
}

// balance makes (I) true: it wakes workers until each runnable piece of work has a promised one. It
// also sees to it that somebody looks while work waits. The caller holds the lock.
func (p *Pool) balance() {
	runnable := p.jobs.len() + min(p.mailboxes.len(), max(p.size-p.running, 0))
	for p.soonIdle < runnable {
		p.wakeOne()
	}
	if !p.looking && p.jobs.len()+p.mailboxes.len() > 0 && !p.closed {
		p.looking = true
		time.AfterFunc(lookEvery, p.look)
	}
}

// wakeOne promises one more worker: an idle one, else a new one. The caller holds the lock.
func (p *Pool) wakeOne() {
	n := len(p.idle) - 1
	if n < 0 {
		w := &Worker{pool: p, wake: make(chan struct{}, 1)}
		w.promise(true)
		go w.loop()
		return
	}
	w := p.idle[n]
	p.idle = p.idle[:n]
	p.unused = min(p.unused, n)
	w.promise(true)
	w.wake <- struct{}{}
}

// look writes off the mailboxes that began before the previous look. One look is not enough,
// because a mailbox may have begun just before it.
func (p *Pool) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looking = false
	p.round++
	for _, w := range p.serving {
		if !w.writtenOff && p.round-w.round > 1 {
			w.writtenOff = true
			w.promise(false)
			p.running--
		}
	}
	p.balance()
}

// Trim ends the workers that were idle ever since the last Trim. Call it now and then: after a
// burst the pool holds as many workers as the burst had jobs at once.
func (p *Pool) Trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.idle[:p.unused] {
		close(w.wake)
	}
	p.idle = append(p.idle[:0], p.idle[p.unused:]...)
	p.unused = len(p.idle)
}

// Close ends the idle workers at once and the others after the last queued work. It does not wait.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.wake)
	}
	p.idle, p.unused = nil, 0
}

// ExpectIdle says that the job is about to return: work submitted from now on waits for this worker
// instead of waking another one. The job must not block any more, unless it calls ClearIdle first.
func (w *Worker) ExpectIdle() { w.setPromise(true) }

// ClearIdle takes ExpectIdle back, and wakes workers for what was left to this one.
func (w *Worker) ClearIdle() { w.setPromise(false) }

func (w *Worker) setPromise(promised bool) {
	if w == nil {
		return
	}
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.promise(promised)
	w.pool.balance()
}

// promise counts the worker in soonIdle, or not. The caller holds the lock.
func (w *Worker) promise(promised bool) {
	if w.promised == promised {
		return
	}
	if w.promised = promised; promised {
		w.pool.soonIdle++
	} else {
		w.pool.soonIdle--
	}
}

// loop is the worker's goroutine. It ends when the pool is closed or has too many workers, or with
// a job that ends its goroutine.
func (w *Worker) loop() {
	hadMailbox := false
	for {
		mailbox, job := w.next(hadMailbox)
		hadMailbox = mailbox != nil
		switch {
		case mailbox != nil:
			mailbox()
		case job != nil:
			w.run(job)
		default:
			if _, more := <-w.wake; !more {
				return
			}
		}
	}
}

// next takes a piece of work, or joins the idle workers, or ends the worker if the pool is closed.
// hadMailbox says that the worker has just executed a mailbox.
func (w *Worker) next(hadMailbox bool) (mailbox func(), job Job) {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if hadMailbox {
		w.endMailbox()
	}
	w.promise(false)
	switch {
	case p.running < p.size && p.mailboxes.len() > 0:
		mailbox = p.mailboxes.pop()
		p.serving = append(p.serving, w)
		p.running++
		w.round = p.round
		w.promise(true) // a mailbox returns soon, or look finds out
	case p.jobs.len() > 0:
		job = p.jobs.pop()
	case p.closed:
		close(w.wake)
	default:
		p.idle = append(p.idle, w)
	}
	p.balance()
	return mailbox, job
}

// endMailbox gives the place back, unless look has done so. The caller holds the lock.
func (w *Worker) endMailbox() {
	p := w.pool
	for i := range p.serving {
		if p.serving[i] == w {
			last := len(p.serving) - 1
			p.serving[i], p.serving[last] = p.serving[last], nil
			p.serving = p.serving[:last]
			break
		}
	}
	if !w.writtenOff {
		p.running--
	}
	w.writtenOff = false
}

// run executes a job. A job that ends its goroutine has a promise that will never be kept.
func (w *Worker) run(job Job) {
	returned := false
	defer func() {
		if !returned {
			w.ClearIdle()
		}
	}()
	job.Run(w)
	returned = true
}
