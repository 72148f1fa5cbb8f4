package driver

import (
	"sync"
	"sync/atomic"
	"time"
)

// clockStepMax: an estimate this far ahead of a fresh stamp is not latency; the store's clock was
// set back (or another server took over), so the estimate follows it.
const clockStepMax = 2 * time.Second

// clockAgeMax: a stamp this old is replaced by the next one, however long that was on its way, so
// that a local clock which runs fast cannot carry the estimate ahead by more than it gains in that
// time.
const clockAgeMax = 10 * time.Second

// Clock estimates the store's time between calls: the stamp of an answer plus the monotonic time
// since it arrived. The zero Clock tells local time until its first stamp. It may be used by many
// goroutines.
//
// Invariant: the estimate is never ahead of the store's own clock, so a local timer fires late
// rather than early (J9). A timer that fires late costs latency; one that fires early would be an
// event at a time that has not come.
//
// Proof. The store stamped its answer at true time a, and the stamp arrived here at b, not before
// a. At time t the estimate is stamp + (t - b), and the store's clock shows stamp + (t - a), which
// is not less. How far the estimate is behind is b - a, the way of that one answer. So of two
// stamps the one that puts the estimate further ahead was faster, is still not ahead of the store,
// and is the better one. That is why Observe keeps a maximum.
//
// The proof assumes that both clocks run equally fast and that the store's is never set back. Where
// the first fails, clockAgeMax bounds the error: an old stamp is replaced by a fresh one, better or
// not. Where the second fails, clockStepMax notices it: no answer travels backwards by seconds.
//
// Now is called several times for each step, by all goroutines of a node, so it takes no lock. The
// lock is for Observe alone, which compares with what it replaces.
type Clock struct {
	mu   sync.Mutex
	last atomic.Pointer[stamped] // nil until the first stamp; never changed, only replaced
}

// stamped is a stamp and when it arrived.
type stamped struct{ stamp, at time.Time }

// Observe takes a stamp that the store just sent. Of several within clockAgeMax, the one that puts
// the clock furthest ahead waited the least on its way, so it wins.
func (c *Clock) Observe(stamp time.Time) {
	if stamp.IsZero() {
		return
	}
	local := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.last.Load(); last != nil {
		ahead := last.stamp.Add(local.Sub(last.at)).Sub(stamp)
		if ahead >= 0 && ahead <= clockStepMax && local.Sub(last.at) <= clockAgeMax {
			return
		}
	}
	c.last.Store(&stamped{stamp, local})
}

// Now estimates the store's clock, in whole microseconds.
func (c *Clock) Now() time.Time {
	now := time.Now()
	if last := c.last.Load(); last != nil {
		now = last.stamp.Add(now.Sub(last.at))
	}
	return now.UTC().Truncate(time.Microsecond)
}
