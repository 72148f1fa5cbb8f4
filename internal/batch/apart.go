package batch

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/internal/pool"
)

const (
	// asidePause is the time after which a call is tried again that could not be carried out.
	asidePause = 200 * time.Millisecond
	// largeBytes is the size from which on a call is written alone, beside the batches. On a slow
	// network it takes as long as hundreds of others, which shall not wait for it.
	largeBytes = 1 << 20
	// bytesMax bounds a batch, for the same reason.
	bytesMax = 4 << 20
	// largeMax, partsMax and slowMax bound what is written beside the batches at once: large calls,
	// parts of batches, and calls that took too long alone. Each has a connection of the store.
	largeMax = 2
	partsMax = 1
	slowMax  = 1
	// slowPauseMax bounds the pause of a call that takes too long alone.
	slowPauseMax = 5 * time.Second
)

// SetSize tells the Batcher how many bytes a call has. Large calls are written alone then, beside
// the batches, and a batch of others is bounded. It must be called before anything is submitted.
func (b *Batcher[In, Out]) SetSize(size func(In) int) {
	if b.size = size; b.aside != nil {
		b.aside.size = size
	}
}

// SetDivide says which answers mean that the store gave the write up because it took too long. Such
// a call is not answered. If it was in a batch, it may be another member's fault: the batch is
// divided, and its halves are written one after the other, each with its own time. A call that
// takes too long alone is written again after a pause that grows, and holds up nobody. It must be
// called before anything is submitted.
func (b *Batcher[In, Out]) SetDivide(slow func(Out) bool) {
	if b.slow = slow; b.aside != nil {
		b.aside.slow = slow
	}
}

// part is calls that are written beside the batches.
type part[In, Out any] struct {
	b     *Batcher[In, Out]
	calls calls[In, Out]
	slow  int // how often a call was written alone and took too long
}

// beside writes a part as soon as there is room for it. The Batcher is not idle before that.
func (b *Batcher[In, Out]) beside(p *part[In, Out]) {
	l := &b.parts
	switch {
	case p.slow > 0:
		l = &b.slowest
	case len(p.calls.in) == 1:
		l = &b.large
	}
	b.idle.Add(1)
	if l.enter(p) {
		b.spawn(l)
	}
}

// Run writes the part. It is called by its lane.
func (p *part[In, Out]) Run(w *pool.Worker) {
	defer p.b.idle.Done()
	p.b.settle(w, &p.calls, p.slow)
}

// divide writes calls again that took too long in a batch of so many.
func (b *Batcher[In, Out]) divide(c calls[In, Out], of, slow int) {
	if of > 1 {
		n := len(c.in)
		for _, half := range []calls[In, Out]{{in: c.in[:n/2], done: c.done[:n/2]}, {in: c.in[n/2:], done: c.done[n/2:]}} {
			if len(half.in) > 0 {
				b.beside(&part[In, Out]{b: b, calls: half})
			}
		}
		return
	}
	b.idle.Add(1)
	time.AfterFunc(min(asidePause<<min(slow, 10), slowPauseMax), func() {
		defer b.idle.Done()
		b.beside(&part[In, Out]{b: b, calls: c, slow: slow + 1})
	})
}

// lane runs jobs in the order in which they come, at most so many at a time.
type lane struct {
	max     int
	mu      sync.Mutex
	waiting list.Queue[pool.Job]
	running int
}

// enter adds a job. If it returns true, the caller must have the lane run by a job of the pool.
func (l *lane) enter(job pool.Job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.Push(job)
	if l.running == l.max {
		return false
	}
	l.running++
	return true
}

// Run runs jobs until none waits. It is called by the pool.
func (l *lane) Run(w *pool.Worker) {
	for {
		l.mu.Lock()
		if l.waiting.Len() == 0 {
			l.running--
			l.mu.Unlock()
			return
		}
		job := l.waiting.Pop()
		l.mu.Unlock()
		w.ClearIdle()
		job.Run(w)
	}
}
