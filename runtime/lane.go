package runtime

import (
	"sync"

	"github.com/reprise-run/reprise/internal/pool"
)

// lane is group commit: it writes one batch at a time, and whatever arrives meanwhile forms the next one. An idle lane
// writes at once and costs no goroutine. Calls keep their order.
//
// It is generic because commits, starts, messages and loads are gathered the same way; it never looks inside.
type lane[In, Out any] struct {
	max   int
	write func(batch []In) []Out // blocks; answers each member; must not keep batch
	spawn func(pool.Job)         // runs a function that may block

	mu      sync.Mutex
	waiting calls[In, Out]
	busy    bool
	idle    sync.WaitGroup // done while not busy
}

// calls are what a batch is made of, and whom to tell about each member.
type calls[In, Out any] struct {
	in   []In
	done []func(Out)
}

func newLane[In, Out any](max int, write func([]In) []Out) *lane[In, Out] {
	return &lane[In, Out]{max: max, write: write, spawn: func(run pool.Job) { go run(nil) }}
}

// add never blocks. done is called on the lane's goroutine and must be quick.
func (l *lane[In, Out]) add(in In, done func(Out)) {
	if l.enter(in, done) {
		l.spawn(l.run)
	}
}

// lead is add for a caller who waits for the answer anyway. If the lane is idle, the call is written before lead returns, on the
// caller's goroutine: handing it to another one and back costs as much as a fast store does.
func (l *lane[In, Out]) lead(in In, done func(Out)) {
	if !l.enter(in, done) {
		return
	}
	var batch calls[In, Out]
	l.take(&batch)
	l.answer(nil, &batch)
	if l.more() {
		l.spawn(l.run)
	}
}

// enter adds a call and tells whether the caller has to see to it.
func (l *lane[In, Out]) enter(in In, done func(Out)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.in = append(l.waiting.in, in)
	l.waiting.done = append(l.waiting.done, done)
	if l.busy {
		return false
	}
	l.busy = true
	l.idle.Add(1)
	return true
}

func (l *lane[In, Out]) run(w *pool.Worker) {
	var batch calls[In, Out]
	for l.take(&batch) {
		w.ClearIdle()
		l.answer(w, &batch)
	}
}

// answer writes a batch and tells everyone. Nearly always, that is the end of the lane's work on a node with little to do.
func (l *lane[In, Out]) answer(w *pool.Worker, batch *calls[In, Out]) {
	out := l.write(batch.in)
	w.ExpectIdle()
	for i := range out {
		batch.done[i](out[i])
	}
}

// more tells whether calls wait; if not, the lane is idle.
func (l *lane[In, Out]) more() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting.in) == 0 {
		l.rest()
		return false
	}
	return true
}

// rest makes the lane idle. The caller holds the lock.
func (l *lane[In, Out]) rest() {
	l.busy = false
	l.idle.Done()
}

// take replaces a batch that has been written by the next one. It returns false, and the lane is idle, if there is none.
func (l *lane[In, Out]) take(batch *calls[In, Out]) bool {
	batch.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting.in) <= l.max {
		*batch, l.waiting = l.waiting, *batch
	} else {
		batch.move(&l.waiting, l.max)
	}
	if len(batch.in) > 0 {
		return true
	}
	l.rest()
	return false
}

// clear empties a batch and keeps its memory, unless an unusual crowd made it large.
func (c *calls[In, Out]) clear() {
	if cap(c.in) > 2*laneBatchMax {
		*c = calls[In, Out]{}
		return
	}
	clear(c.in)
	clear(c.done)
	c.in, c.done = c.in[:0], c.done[:0]
}

// move takes the first n calls of others.
func (c *calls[In, Out]) move(others *calls[In, Out], n int) {
	c.in, c.done = append(c.in, others.in[:n]...), append(c.done, others.done[:n]...)
	others.in, others.done = others.in[n:], others.done[n:]
}

// wait returns when everything added before has been written.
func (l *lane[In, Out]) wait() { l.idle.Wait() }
