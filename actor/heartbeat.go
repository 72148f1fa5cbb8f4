package actor

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// heartbeatThrottle limits how many heartbeats of an attempt reach the run's mailbox: a body may
// heartbeat in a tight loop. The details of the last one are never lost, because the end of the
// attempt carries what was held back. It is locked because a body may heartbeat from several
// goroutines.
type heartbeatThrottle struct {
	mu     sync.Mutex
	newest *journal.Payload
	passed time.Time // when one was passed to the mailbox
}

// add keeps the details and tells whether to pass them to the mailbox now.
func (t *heartbeatThrottle) add(details *journal.Payload) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = details
	if now := time.Now(); now.Sub(t.passed) >= heartbeatPassEvery {
		t.passed = now
		return true
	}
	return false
}

// last returns the newest details, nil if there was no heartbeat.
func (t *heartbeatThrottle) last() *journal.Payload {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.newest
}

// heartbeatDeadline cancels an attempt that has not heartbeat for its limit. The zero value has no
// limit.
//
// It uses the local clock: the limit says how long a body may be silent on this node, which no
// other clock knows better. A heartbeat that races with the timer is too late if Stop says that the
// timer has fired: the attempt is being cancelled then and does not come back to life.
type heartbeatDeadline struct {
	mu    sync.Mutex
	limit time.Duration // 0 for none; like over and timer set by start, before the body begins
	timer *time.Timer
	over  chan struct{} // closed when the attempt was silent for too long; nil without a limit
}

// start begins the first interval, if there is a limit.
func (d *heartbeatDeadline) start(limit time.Duration, cancel context.CancelCauseFunc) {
	if limit <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit, d.over = limit, make(chan struct{})
	d.timer = time.AfterFunc(limit, func() {
		cancel(ErrHeartbeat)
		close(d.over)
	})
}

// extend begins the next interval.
func (d *heartbeatDeadline) extend() {
	if d.limit <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer.Stop() {
		d.timer.Reset(d.limit)
	}
}

func (d *heartbeatDeadline) stop() {
	if d.limit <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer.Stop()
}
