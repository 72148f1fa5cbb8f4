package worker

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// rounds is a membership whose rounds can fail.
type rounds struct {
	driver.Membership
	mu    sync.Mutex
	fail  func(nth int) (before, after error)
	late  time.Duration // the first round fails, and happens so much later; 0 for no such round
	count int
	stuck chan struct{} // rounds that need a lock wait until it is closed; nil for never
	asked chan struct{} // questions for what is held wait until it is closed; nil for never

	behind int                // the first round fails, and happens just before the one of this number; 0 for no such round
	failed *driver.LimitRound // that round
}

func (r *rounds) Limits(ctx context.Context, round driver.LimitRound) (driver.LimitAnswer, error) {
	r.mu.Lock()
	r.count++
	var before, after error
	if r.fail != nil {
		before, after = r.fail(r.count)
	}
	late, stuck, asked := r.late, r.stuck, r.asked
	r.late = 0
	failed := r.failed
	if r.behind == r.count {
		r.failed = nil
	} else if failed = nil; r.behind > 0 && r.count == 1 {
		round.Late, r.failed = nil, &round
		r.mu.Unlock()
		return driver.LimitAnswer{}, journal.ErrUnavailable
	}
	r.mu.Unlock()
	if failed != nil {
		_, _ = r.Membership.Limits(ctx, *failed)
	}
	if late > 0 {
		round.Late = nil // it is called before the round returns, or not at all
		go func() {
			time.Sleep(late)
			_, _ = r.Membership.Limits(context.WithoutCancel(ctx), round)
		}()
		return driver.LimitAnswer{}, journal.ErrUnavailable
	}
	if stuck != nil && round.Size() > 0 {
		<-stuck
	}
	if asked != nil && round.Held {
		<-asked
	}
	if before != nil {
		return driver.LimitAnswer{}, before
	}
	a, err := r.Membership.Limits(ctx, round)
	if err == nil && after != nil {
		return driver.LimitAnswer{}, after
	}
	return a, err
}

// sent is how many rounds were asked for.
func (r *rounds) sent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}
