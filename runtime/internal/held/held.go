// Package held says in the log whom somebody else holds up.
package held

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// reportAfter is how long something is held before that is reported. Batches of others hold rows
// for milliseconds.
const reportAfter = time.Second

// Log reports, once each, what has been held for a while: a run whose row, or a key, that another
// transaction has locked. Such a transaction is nearly always a program's that stays open, and the
// line is all that its author sees of it. It must not be copied.
type Log[ID comparable] struct {
	Log  *slog.Logger
	What string // the message
	Key  string // of the attribute that names it

	any   atomic.Bool // whether since is not empty: a look that takes no lock
	mu    sync.Mutex
	since map[ID]*entry
}

type entry struct {
	since time.Time
	told  bool
}

// Note takes note that id is held, or is not any more.
func (l *Log[ID]) Note(id ID, held bool) {
	if !held && !l.any.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !held {
		delete(l.since, id)
		l.any.Store(len(l.since) > 0)
		return
	}
	if l.since == nil {
		l.since = map[ID]*entry{}
	}
	e := l.since[id]
	if e == nil {
		e = &entry{since: time.Now()}
		l.since[id] = e
		l.any.Store(true)
	}
	if d := time.Since(e.since); !e.told && d >= reportAfter {
		e.told = true
		l.Log.Warn(l.What, l.Key, id, "for", d)
	}
}

// Held tells whether id was held when it was last noted.
func (l *Log[ID]) Held(id ID) bool {
	if !l.any.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since[id] != nil
}
