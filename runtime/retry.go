package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/reprise-run/reprise/journal"
)

// untilAvailable repeats fn while the store is unavailable and ctx lasts. Every store call may be repeated as it is (J4).
func untilAvailable(ctx context.Context, fn func() error) error {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(retryFirst), backoff.WithMaxInterval(retryMax), backoff.WithMaxElapsedTime(0))
	for {
		err := fn()
		if err == nil || !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
		if !sleep(ctx, b.NextBackOff()) {
			return err
		}
	}
}

// sleep waits and tells whether ctx still lasts.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
