package actor

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// watchdog reports workflow code that does not come to an await for long. It has one timer for all turns, which are
// kept in the order of their begins: the first one is the first to be late.
type watchdog struct {
	after  time.Duration
	report func(run *journal.Run, after time.Duration, stack string) // nil: nothing is watched

	mu          sync.Mutex
	first, last *watch
	armed       bool
}

// watch is a turn in progress. Each run has one.
type watch struct {
	run        *journal.Run
	began      time.Time
	listed     bool
	prev, next *watch
}

// begin watches a turn until end.
func (d *watchdog) begin(w *watch, run *journal.Run) {
	if d.report == nil {
		return
	}
	w.run, w.began, w.listed = run, time.Now(), true
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.prev = d.last; d.last == nil {
		d.first = w
	} else {
		d.last.next = w
	}
	d.last = w
	if !d.armed {
		d.armed = true
		time.AfterFunc(d.after, d.look)
	}
}

func (d *watchdog) end(w *watch) {
	if d.report == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(w)
}

// remove takes a turn out, if it has not been reported. The caller holds the lock.
func (d *watchdog) remove(w *watch) {
	if !w.listed {
		return
	}
	if w.prev == nil {
		d.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		d.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.listed = nil, nil, false
}

// look reports each late turn once, and comes back when the next one would be late.
func (d *watchdog) look() {
	var late []*journal.Run
	d.mu.Lock()
	for d.first != nil && time.Since(d.first.began) >= d.after {
		late = append(late, d.first.run)
		d.remove(d.first)
	}
	if d.armed = d.first != nil; d.armed {
		time.AfterFunc(d.after-time.Since(d.first.began), d.look)
	}
	d.mu.Unlock()
	for _, run := range late {
		d.report(run, d.after, strandStacks())
	}
}
