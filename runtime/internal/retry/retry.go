// Package retry repeats calls of a store that cannot be reached.
package retry

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const (
	// waitFirst and waitMax bound the wait between two tries. A failover takes seconds, a lost
	// connection milliseconds: the first waits are short enough for the second, and a try a second
	// is no load.
	waitFirst = 20 * time.Millisecond
	waitMax   = time.Second
)

// UntilAvailable calls fn until it returns something else than journal.ErrUnavailable, or ctx ends;
// it returns fn's last error. ErrUnavailable leaves open whether the call took effect. Every call
// of a store may be repeated as it is nevertheless, because the store recognises what an earlier
// try wrote (J4). Waits grow from 20 ms to a second, with jitter.
func UntilAvailable(ctx context.Context, fn func() error) error {
	return until(ctx, fn, func(err error) bool { return errors.Is(err, journal.ErrUnavailable) })
}

// UntilDivided is UntilAvailable for a call of several members: it also returns what took too long,
// see driver.ErrTookLong. Together the members would take as long again.
func UntilDivided(ctx context.Context, fn func() error) error {
	return until(ctx, fn, func(err error) bool {
		return errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, driver.ErrTookLong)
	})
}

// UntilAnswered is UntilDivided for somebody's own call: it also returns what lasts until somebody
// mends the store, see driver.ErrLasting.
func UntilAnswered(ctx context.Context, fn func() error) error {
	return until(ctx, fn, func(err error) bool {
		return errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, driver.ErrTookLong) && !errors.Is(err, driver.ErrLasting)
	})
}

func until(ctx context.Context, fn func() error, again func(error) bool) error {
	b := Waits()
	for {
		err := fn()
		if err == nil || !again(err) {
			return err
		}
		if !Sleep(ctx, b.NextBackOff()) {
			return err
		}
	}
}

// Waits returns the waits between tries that fail one after the other.
func Waits() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(waitFirst), backoff.WithMaxInterval(waitMax), backoff.WithMaxElapsedTime(0))
}

// Soon is how long a timer lasts that is due already. Go 1.26 has timers whose channel nobody waits
// for yet executed by whoever looks: if two goroutines of a synctest bubble do so at once, for
// timers of no time, the race detector ends the process.
const Soon = time.Nanosecond

// Sleep waits for d, or until ctx ends, and tells whether ctx still lasts. No time costs no timer,
// see [Soon].
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
