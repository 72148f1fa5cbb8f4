package worker

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// comparison decides when what the node owns is compared with what the store says, and keeps what
// the comparison has found astray.
//
// It is due at once when somebody notes a doubt: a renewal that finds the store in an older state,
// a commit that is refused. And it is due every few leases without a reason, so that a fault that
// nobody knows leaves no run to nobody for longer than that. Two comparisons have compareMin
// between them, so that a store that refuses every commit is not asked by each of them.
type comparison struct {
	every time.Duration // between two that nobody asked for

	mu     sync.Mutex
	doubt  bool
	last   time.Time // of the last comparison
	strays []driver.Holding
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
	return c.doubt && since >= compareMin || since >= c.every
}

// due is wanted for the caller that makes the comparison.
func (c *comparison) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.want(now) {
		return false
	}
	c.doubt, c.last = false, now
	return true
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
