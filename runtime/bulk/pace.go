package bulk

import (
	"context"
	"time"
)

// pace spreads calls over time. Who is late catches up a little and not all of it, so that a pause
// of the store is not followed by a burst.
type pace struct {
	gap  time.Duration // between two calls, 0 for none
	next time.Time     // when the next call may begin
}

func newPace(rate float64) *pace {
	p := &pace{next: time.Now()}
	if rate > 0 {
		p.gap = time.Duration(float64(time.Second) / rate)
	}
	return p
}

// wait waits until the next call may begin, and returns false if ctx ends before.
func (p *pace) wait(ctx context.Context) bool {
	if p.gap == 0 {
		return ctx.Err() == nil
	}
	now := time.Now()
	if late := now.Add(-catchUp); p.next.Before(late) {
		p.next = late
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(p.gap)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
