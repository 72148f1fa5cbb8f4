package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// lease keeps the membership alive. One renewal covers every run that the node owns, whatever their
// number.
//
// Two clocks are involved. The store's says when other nodes may free what this one owns; this
// node's own monotonic clock says when it must stop. The node counts its lease from before the
// request was sent that granted it, and the store from when it handled the request, which is later.
// So the node stops no later than the others begin, whatever the two clocks show (J9). The fence
// would refuse a late write in any case (J3); stopping in time is what keeps steps from running
// twice at the same time.
//
// The end of the lease is a time of this process, and not the answer to a call: a store on a disk
// that hangs heeds no context, and its steps must not outlive the lease for that.
type lease struct {
	member  driver.Membership
	length  time.Duration
	owns    func() bool          // whether the node owns a run
	renewed func(driver.Renewal) // must be quick
	lost    func(error)          // called at most once, with a journal.ErrNodeLost, or ErrStoreClosed
	wake    chan struct{}        // one token: renew
	loops   *sync.WaitGroup      // counts calls
}

// renewNow makes the loop renew at once. It does not block.
func (l *lease) renewNow() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// renewLoop renews until ctx ends or the lease is lost. end is the local time at which it ends
// unless it is renewed.
//
// A node that owns nothing has little to lose with its lease, so it renews less often as long as
// the store answers. What it comes to own meanwhile has most of the lease before it.
func (l *lease) renewLoop(ctx context.Context, end time.Time) {
	var cause, err error // cause is why the store could not be reached, as of the last try that knew
	every := func() time.Duration {
		if err == nil && !l.owns() {
			return l.length / idleRenewalsPerLease
		}
		return l.length / renewalsPerLease
	}
	for l.sleep(ctx, min(every(), time.Until(end))) {
		sent := time.Now()
		var r driver.Renewal
		r, err = l.renew(ctx, end)
		if err == nil || errors.Is(err, journal.ErrUnavailable) {
			cause = err
		}
		switch {
		case err == nil:
			end = sent.Add(l.length)
			l.renewed(r)
		case ctx.Err() != nil:
			return
		case errors.Is(err, journal.ErrNodeLost), errors.Is(err, journal.ErrStoreClosed):
			l.lost(err)
			return
		case !time.Now().Before(end):
			if cause == nil {
				cause = err
			}
			l.lost(fmt.Errorf("%w: the lease could not be renewed in time: %w", journal.ErrNodeLost, cause))
			return
		}
	}
}

// renew asks for a renewal, and returns at end whether the call has or not. The call's own limit is
// a little before, so that a store which heeds it still says why it did not answer.
func (l *lease) renew(ctx context.Context, end time.Time) (driver.Renewal, error) {
	type answer struct {
		renewal driver.Renewal
		err     error
	}
	answers := make(chan answer, 1)
	l.loops.Add(1)
	go func() {
		defer l.loops.Done()
		call, cancel := context.WithDeadline(ctx, end.Add(-l.length/wordOfLease))
		defer cancel()
		renewal, err := l.member.Renew(call)
		answers <- answer{renewal, err}
	}()
	over := time.NewTimer(time.Until(end))
	defer over.Stop()
	select {
	case a := <-answers:
		return a.renewal, a.err
	case <-over.C:
		return driver.Renewal{}, context.DeadlineExceeded
	}
}

// sleep waits for d or until somebody wants a renewal, and tells whether ctx still lasts.
func (l *lease) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, retry.Soon))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
