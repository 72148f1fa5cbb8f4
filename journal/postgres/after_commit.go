package postgres

import (
	"context"
	"sync"
	"time"
)

// endings waits for transactions of callers to commit, so that what was written in them is
// announced when it is there.
//
// NOTIFY in the transaction itself would do the same with less, but not for free: it takes one lock
// of the whole server at the commit, until that is on disk, so all transactions of an application
// that start or signal runs would commit one after another. So the store asks, every few
// milliseconds and for all transactions at once, while there are any. Nothing depends on it but
// speed: what is not announced is found by a poll.
//
// The invariant: while open is not empty, one loop runs, which ends when it finds it empty. mu is
// not held while the server is asked or a function is called.
type endings struct {
	spawn func(run func(ctx context.Context)) bool // see hints.spawn
	// ask returns which of some transactions have ended, and which of these have committed. If the
	// server does not know them, because it is another one now, all have.
	ask func(ctx context.Context, ids []int64) map[int64]bool

	mu   sync.Mutex
	open map[int64]*ending // by the transaction's id
	runs bool
}

// ending is a transaction that is waited for.
type ending struct {
	since time.Time
	done  []func()
}

// full tells whether no more transactions are waited for.
func (e *endings) full() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open) >= endingsMax
}

func (e *endings) add(id int64, done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := e.open[id]
	switch {
	case known != nil && len(known.done) >= endingsMax: // a claim that the first ones cause finds more
	case known != nil:
		known.done = append(known.done, done)
	case len(e.open) < endingsMax:
		e.open[id] = &ending{since: time.Now(), done: []func(){done}}
	}
	if !e.runs && len(e.open) > 0 {
		e.runs = e.spawn(e.loop)
	}
}

// loop asks until no transaction is open, or the store is closed.
func (e *endings) loop(ctx context.Context) {
	for {
		ids, pause := e.list()
		if ids == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		for _, done := range e.take(e.ask(ctx, ids)) {
			done()
		}
	}
}

// list returns the transactions to ask about, and the pause before that. Those that take very long
// are given up. It returns nil when the loop is to end.
func (e *endings) list() (ids []int64, pause time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	pause = endingPauseMax
	for id, o := range e.open {
		switch age := time.Since(o.since); {
		case age > endingPatience:
			delete(e.open, id)
			continue
		case age < endingSoon:
			pause = endingPause
		}
		ids = append(ids, id)
	}
	e.runs = len(ids) > 0
	return ids, pause
}

// take removes transactions that have ended and returns what is to be called for them.
func (e *endings) take(ended map[int64]bool) (done []func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, committed := range ended {
		if o := e.open[id]; o != nil && committed {
			done = append(done, o.done...)
		}
		delete(e.open, id)
	}
	return done
}
