package actor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Limiter gives attempts the claims of limits that their steps name (J14). Its methods do not
// block.
type Limiter interface {
	// Want asks for all that an attempt needs. w.Granted is called once it is held, from any
	// goroutine, unless w is withdrawn before.
	Want(w *LimitWant)
	// Withdraw takes a want back that waits, and tells whether it did: then Granted is not called.
	Withdraw(w *LimitWant) bool
	// Release ends a want that was granted. used is what it needs, with what was used of each
	// instead of its cost.
	Release(w *LimitWant, used []journal.LimitNeed)
}

// LimitWant is what one attempt needs. The Limiter gives it its ID.
type LimitWant struct {
	driver.Want
	Granted func()
}

// claim is the part of an attempt that is about limits. An attempt of a step that names limits
// waits for their claims first, and then for a slot: so it has no slot, no goroutine and no
// connection while it waits for others. The claims end when the body has returned, or when it is
// certain that it will not be called.
//
// Whoever takes the want back from the Limiter, by withdraw, is the only one who answers for the
// attempt; behind a grant the slots decide, see slots.
type claim struct {
	limiter Limiter
	want    LimitWant
	granted atomic.Bool
	end     sync.Once

	mu      sync.Mutex
	unwatch func() bool         // guarded by mu, like what follows; ends the watch over the attempt's context
	timer   *time.Timer         // of the time of the whole step; nil for none
	used    []journal.LimitNeed // what the body has said that it used
}

// claimLimits asks for the claims of an attempt; over answers for it if its context ends, or its
// time, before it has them.
func claimLimits(a *attempt, limiter Limiter, granted, over func(*attempt)) {
	c := &claim{limiter: limiter, used: slices.Clone(a.options.Limits)}
	c.want = LimitWant{
		Want: driver.Want{Run: a.run.ID, Cmd: a.sc.Cmd, Step: a.sc.Step, Priority: a.run.Priority, Since: a.since,
			Needs: slices.Clone(a.options.Limits)},
		Granted: func() {
			c.granted.Store(true)
			c.unwatchAll()
			granted(a)
		},
	}
	a.claim, a.sc.Limits = c, c
	withdraw := func(cause error) {
		if a.cancel(cause); limiter.Withdraw(&c.want) {
			c.unwatchAll() // a timer would keep the attempt in memory for the time of its step
			over(a)
		}
	}
	c.mu.Lock() // a grant that is faster waits for the watches
	defer c.mu.Unlock()
	limiter.Want(&c.want)
	if a.left > 0 {
		c.timer = time.AfterFunc(a.left, func() { withdraw(ErrStepTimeout) })
	}
	c.unwatch = context.AfterFunc(a.ctx, func() { withdraw(nil) })
}

// unwatchAll ends what might withdraw the want.
func (c *claim) unwatchAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch()
	if c.timer != nil {
		c.timer.Stop()
	}
}

// waits tells whether the attempt waits for its claims.
func (c *claim) waits() bool { return c != nil && !c.granted.Load() }

// withdraw takes the want of an attempt back, and tells whether it did.
func (c *claim) withdraw() bool {
	if c == nil || !c.limiter.Withdraw(&c.want) {
		return false
	}
	c.unwatchAll()
	return true
}

// release ends the claims, once. nil has none.
func (c *claim) release() {
	if c != nil {
		c.end.Do(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.limiter.Release(&c.want, c.used)
		})
	}
}

// forgo ends the claims of an attempt whose body will not be called: it has used nothing of a rate.
func (c *claim) forgo() {
	if c == nil {
		return
	}
	c.mu.Lock()
	for i := range c.used {
		c.used[i].Cost = 0
	}
	c.mu.Unlock()
	c.release()
}

// Settle implements replay.Limits.
func (c *claim) Settle(name string, used int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.used, func(n journal.LimitNeed) bool { return n.Name == name })
	switch {
	case at < 0:
		return fmt.Errorf("settle limit %q: %w: the step's options do not name it", name, journal.ErrInvalid)
	case used < 0 || used > journal.LimitCostMax:
		return fmt.Errorf("settle limit %q: %d was used: %w: it must be from 0 to %d", name, used, journal.ErrInvalid, int64(journal.LimitCostMax))
	}
	c.used[at].Cost = used
	return nil
}
