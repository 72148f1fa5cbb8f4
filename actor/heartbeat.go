package actor

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// heartbeatThrottle limits how many heartbeats of an attempt reach the run's mailbox: a body may
// heartbeat in a tight loop. The newest one arrives within [heartbeatPassEvery] all the same, when
// no other one follows it, and the end of the attempt carries what has not arrived. It is locked
// because a body may heartbeat from several goroutines.
type heartbeatThrottle struct {
	mu     sync.Mutex
	newest *journal.Payload
	passed time.Time   // when one was passed to the mailbox
	late   *time.Timer // passes the newest when the time since passed is long enough; nil while none is held back
	ended  bool        // the attempt is answered
}

// add keeps the details and passes them on, now or when enough time has gone by.
func (t *heartbeatThrottle) add(details *journal.Payload, pass func(*journal.Payload)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = details
	if t.ended || t.late != nil {
		return
	}
	wait := heartbeatPassEvery - time.Since(t.passed)
	if wait <= 0 {
		t.passed = time.Now()
		pass(details)
		return
	}
	t.late = time.AfterFunc(wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.late = nil; !t.ended {
			t.passed = time.Now()
			pass(t.newest)
		}
	})
}

// end returns the newest details, nil if there was no heartbeat. Nothing is passed on afterwards.
func (t *heartbeatThrottle) end() *journal.Payload {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.late != nil {
		t.late.Stop()
	}
	return t.newest
}

// heartbeatSaver decides when the details of a run's heartbeats are made durable: at once, unless
// that was done within [heartbeatSaveEvery], and at the end of that time otherwise. So what a crash
// loses is at most so old, whether the body goes on with its heartbeats or says nothing any more.
type heartbeatSaver struct {
	saved time.Time // when they were last made durable
	alarm alarm     // rings when the held back ones are due
	armed bool
}

// due tells whether to make them durable now. If not, it has ring called when it is time.
func (s *heartbeatSaver) due(ring func()) bool {
	wait := heartbeatSaveEvery - time.Since(s.saved)
	if wait <= 0 {
		s.saved, s.armed = time.Now(), false
		s.alarm.stop()
		return true
	}
	if !s.armed {
		s.armed = true
		s.alarm.set(wait, ring)
	}
	return false
}

// stop forgets what is held back: the attempts are no longer this node's.
func (s *heartbeatSaver) stop() {
	s.alarm.stop()
	s.armed = false
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

// start begins the first interval.
func (d *heartbeatDeadline) start(limit time.Duration, cancel context.CancelCauseFunc) {
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
