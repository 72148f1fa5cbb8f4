package worker

import (
	"sync"
	"time"
)

// unconfirmed remembers that the answer to a call was lost that may have made this node the owner
// of runs: a claim, or a start with Owner set.
//
// Such a run has an owner that lives, so no other node looks at it; and the owner does not know of
// it. The remedy is a reconciling claim, which reports all tasks that the node owns. For those that
// are live here it changes nothing; the others are activated.
//
// One such claim is not enough. The lost call may still be under way, in a proxy or in the store
// itself, and take effect after the reconciling claim has looked. So the claims go on, every
// reconcileEvery, until reconcileFor after the last lost answer, which is longer than a store works
// on a call that was given up; the last one is made after that time. Further lost answers start the
// time anew, and ask at once.
type unconfirmed struct {
	mu     sync.Mutex
	since  time.Time // of the last lost answer; zero if everything is confirmed
	looked time.Time // of the last reconciling claim
}

// note says that an answer was lost.
func (u *unconfirmed) note() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.since = time.Now()
}

// pending tells whether further reconciling claims are to come, so that no poll may be left out.
func (u *unconfirmed) pending() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.since.IsZero()
}

// due tells whether the next claim is a reconciling one, and counts it as made.
func (u *unconfirmed) due() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	switch {
	case u.since.IsZero():
		return false
	case u.looked.Before(u.since): // an answer was lost after the last look
	case now.Sub(u.looked) < reconcileEvery:
		return false
	case now.Sub(u.since) > reconcileFor:
		u.since = time.Time{} // this look is the last one
	}
	u.looked = now
	return true
}
