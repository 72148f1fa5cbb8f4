package runtime

import (
	"sync"
	"time"
)

// doubt remembers that the answer to a claim, or to a start that makes the node an owner, was lost: the node may own runs that
// it does not know of, and nobody else would look at them while it lives. The call may also take effect later than its
// caller gave up, so looking once is not enough.
type doubt struct {
	mu     sync.Mutex
	since  time.Time // zero for no doubt
	looked time.Time
}

func (d *doubt) raise() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Now()
}

// raised tells whether there is any, so that the claim loop must not rest.
func (d *doubt) raised() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.since.IsZero()
}

// look tells whether the next claim should ask for what the node owns.
func (d *doubt) look() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	switch {
	case d.since.IsZero():
		return false
	case d.looked.Before(d.since): // raised since
	case now.Sub(d.looked) < doubtEvery:
		return false
	case now.Sub(d.since) > doubtFor:
		d.since = time.Time{} // after this last look
	}
	d.looked = now
	return true
}
