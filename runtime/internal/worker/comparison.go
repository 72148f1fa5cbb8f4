package worker

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// comparison decides when what the node owns is compared with what the store says, and keeps what
// the comparison has found astray.
//
// It is due at once when somebody notes a doubt: a renewal that finds the store in an older state,
// a commit that is refused. And it is due every few leases without a reason, so that a fault that
// nobody knows leaves no run to nobody for long. Two comparisons have compareMin between them, so
// that a store that refuses every commit is not asked by each of them.
//
// A task without a commit under its claim is astray in nearly every comparison of a busy node: the
// answer to the claim or the start is still on its way. Only if a later comparison finds it astray
// again, under the same fence, has the answer been lost. After a doubt that one is made soon, else
// it is the next one: a comparison that asked for another one each time would never end.
type comparison struct {
	every time.Duration // between two that nobody asked for

	mu       sync.Mutex
	doubt    bool
	doubted  bool      // whether the last comparison was made for a doubt
	again    time.Time // when a second look is due; zero for none
	last     time.Time // of the last comparison
	strays   []driver.Holding
	unproven map[journal.RunID]unproven
}

// unproven is a task without a commit under its claim that was astray.
type unproven struct {
	fence journal.Fence
	since time.Time // of the first comparison that found it so
}

// note says that there is a doubt.
func (c *comparison) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubt = true
}

// wanted tells whether a comparison should be made.
func (c *comparison) wanted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want(time.Now())
}

func (c *comparison) want(now time.Time) bool {
	since := now.Sub(c.last)
	return c.doubt && since >= compareMin || since >= c.every || !c.again.IsZero() && !now.Before(c.again)
}

// due is wanted for the caller that makes the comparison.
func (c *comparison) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.want(now) {
		return false
	}
	c.doubt, c.doubted, c.again, c.last = false, c.doubt, time.Time{}, now
	for run, u := range c.unproven {
		if now.Sub(u.since) > 2*max(c.every, strayAfter) { // two comparisons have not found it again
			delete(c.unproven, run)
		}
	}
	return true
}

// isLost takes note of a task without a commit under its claim that is astray. It tells whether the
// answer that would have made it known here is lost. If not, second is when to look again, zero for
// no time of its own. Another doubt may have brought the second look forward: then it was too early
// to tell, and there is one more.
func (c *comparison) isLost(h driver.Holding) (lost bool, second time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if u, ok := c.unproven[h.Run]; ok && u.fence == h.Fence {
		if now.Sub(u.since) >= strayAfter {
			return true, time.Time{}
		}
		if c.doubted {
			c.again = u.since.Add(strayAfter)
		}
		return false, c.again
	}
	if c.unproven == nil {
		c.unproven = map[journal.RunID]unproven{}
	}
	c.unproven[h.Run] = unproven{h.Fence, now}
	if c.doubted {
		c.again = now.Add(strayAfter)
	}
	return false, c.again
}

// addStray keeps a task that is to be released.
func (c *comparison) addStray(h driver.Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strays = append(c.strays, h)
}

// takeStrays returns what was found astray, once.
func (c *comparison) takeStrays() []driver.Holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.strays
	c.strays = nil
	return list
}
