// Package watchdog reports work that should have ended long ago, together with the stacks of the
// goroutines that do such work.
package watchdog

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/internal/list"
)

// Watchdog reports each piece of work that has not ended After its begin, once. The three exported
// fields are set before the first Begin and never change.
//
// It watches every turn of every run, so watching must cost next to nothing: two short critical
// sections, no allocation, and no timer of its own for each turn. One timer is enough because all
// work has the same limit: the list is in the order of begins, so its first element is the first to
// be late, and the timer is set for that one. A turn that ends before its time is unlinked; the
// timer then fires in vain and sets itself again for what is first by then. So there is at most one
// timer, and the invariant is: armed exactly while the timer is to fire, and armed if the list is
// not empty.
//
// Report is called without the lock, on the timer's goroutine. The work may end at the same moment:
// a report says that it was late, not that it still goes on.
type Watchdog[T any] struct {
	After  time.Duration
	Report func(subject T, after time.Duration, stacks string) // nil: nothing is watched
	Frame  string                                              // stacks without it are not reported, see stacks

	mu    sync.Mutex
	begun list.List[Watch[T]] // in the order of begins
	late  list.List[Watch[T]] // reported, and not ended
	armed bool
	timer *time.Timer // the last one that was set
}

// eagerBelow is the limit below which the timer is stopped when nothing is watched. Where a clock
// jumps to the next timer (testing/synctest), each would move it by that little; elsewhere stopping
// costs more than a timer that fires in vain.
const eagerBelow = time.Millisecond

// Watch is a piece of work in progress. Its owner keeps it and uses it again and again: it is not
// allocated for each. Work with the same Watch must not overlap.
type Watch[T any] struct {
	subject T
	began   time.Time
	late    bool // it is in the list of the late

	node list.Node[Watch[T]] // guarded by the watchdog's lock
}

// Begin watches work on subject until End.
func (d *Watchdog[T]) Begin(w *Watch[T], subject T) {
	if d.Report == nil {
		return
	}
	w.subject, w.began = subject, time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun.PushBack(&w.node, w)
	if !d.armed {
		d.arm(d.After)
	}
}

func (d *Watchdog[T]) arm(after time.Duration) {
	d.armed = true
	d.timer = time.AfterFunc(after, d.look)
}

// End ends the watch, whether the work has been reported or not.
func (d *Watchdog[T]) End(w *Watch[T]) {
	if d.Report == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.late {
		d.late.Remove(&w.node)
		w.late = false
	} else {
		d.begun.Remove(&w.node)
	}
	if d.After < eagerBelow && d.armed && d.begun.Empty() {
		d.timer.Stop()
		d.armed = false
	}
}

// Late returns the work that was reported and has not ended.
func (d *Watchdog[T]) Late() (list []T) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := d.late.First(); w != nil; w = w.node.Next() {
		list = append(list, w.subject)
	}
	return list
}

// look reports the late work and sets the timer for the next piece that may become late. Reported
// work moves to the other list, so it is not reported again.
func (d *Watchdog[T]) look() {
	var late []T
	d.mu.Lock()
	first := d.begun.First()
	for first != nil && time.Since(first.began) >= d.After {
		late = append(late, first.subject)
		d.begun.Remove(&first.node)
		d.late.PushBack(&first.node, first)
		first.late = true
		first = d.begun.First()
	}
	if d.armed = first != nil; d.armed {
		d.arm(d.After - time.Since(first.began))
	}
	d.mu.Unlock()
	for _, subject := range late {
		d.Report(subject, d.After, stacks(d.Frame))
	}
}
