package main

import (
	"context"
	"time"
)

const pollEvery = 5 * time.Millisecond

// poll waits until done says so.
func poll(ctx context.Context, done func() (bool, error)) error { return pollAt(ctx, pollEvery, done) }

func pollAt(ctx context.Context, pace time.Duration, done func() (bool, error)) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
