package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	auction workflow.Name[int, string]    = "auction"
	bid     workflow.Signal[int]          = "bid"
	search  workflow.Name[string, string] = "search"
)

// auctions end an hour after the last bid, but at the latest after a day, and earlier if somebody
// bids the maximum.
func auctions(ctx workflow.Context, maximum int) (string, error) {
	began := ctx.Now()
	end := workflow.NewNamedTimer(ctx, "end", 24*time.Hour)
	half := workflow.NewTimer(ctx, 12*time.Hour)
	best, bids := 0, 0
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			v, err := bid.Receive(ctx)
			if err != nil {
				return
			}
			best, bids = max(best, v), bids+1
		}
	})
	for best < maximum && !end.Fired() {
		before := bids
		more, err := workflow.AwaitTimeout(ctx, time.Hour, func() bool { return bids > before || end.Fired() })
		if err != nil {
			return "", err
		}
		if !more {
			break
		}
	}
	stopped, again := end.Stop(), end.Stop()
	return fmt.Sprint(best, " after ", ctx.Now().Sub(began).Truncate(time.Minute), " ", stopped, again, half.Fired()), nil
}

// TestAwaitTimeoutWhateverCrashes: times are those of the run, not of the node that works on it.
func TestAwaitTimeoutWhateverCrashes(t *testing.T) {
	t.Parallel()
	for maximum, want := range map[int]string{
		50:  "50 after 1h30m0s true false false",
		100: "50 after 2h30m0s true false false",
	} {
		t.Run(fmt.Sprint(maximum), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, auction, auctions, nil)
				run := runtimetest.Start(e, auction, maximum, nil)
				e.After(50*time.Minute, func() { runtimetest.Signal(e, run.ID(), bid, 30, nil) })
				e.After(90*time.Minute, func() { runtimetest.Signal(e, run.ID(), bid, 50, nil) })
				if got := run.Must(); got != want {
					e.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
}

// searches look in a slow archive for an hour, and then in the index. The archive is asked to stop,
// and has given back its slot when the run goes on.
func searches(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, what string) (string, error) {
		hour, done := workflow.WithTimeout(ctx, time.Hour)
		defer done()
		found, err := workflow.Step(hour, "archive", func(ctx context.Context) (string, error) {
			if err := pause(ctx, 1000*time.Hour); err != nil {
				_, freed := l.enter("slot is free")(ctx)
				return "", errors.Join(err, freed)
			}
			return what, nil
		}, nil)
		if err == nil {
			return found, nil
		}
		if !hour.Cancelled() || !errors.Is(hour.Err(), workflow.ErrTimeout) || ctx.Err() != nil {
			return "", fmt.Errorf("the scopes are wrong: %w", err)
		}
		day, cancel := workflow.WithCancel(ctx)
		workflow.Go(day, func(ctx workflow.Context) {
			if workflow.Sleep(ctx, 24*time.Hour) == nil {
				cancel()
			}
		})
		asked := day.Now()
		if err := workflow.Await(day, func() bool { return false }); !errors.Is(err, workflow.ErrCancelled) {
			return "", err
		}
		out, err := workflow.Step(day, "never", l.enter("never"), nil)
		if !errors.Is(err, workflow.ErrCancelled) {
			return out, err
		}
		return workflow.Step(ctx, "index", l.enter(fmt.Sprint(what, " after ", ctx.Now().Sub(asked).Truncate(time.Hour))), nil)
	}
}

func TestTimeoutWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, search, searches(l), nil)
		if got := runtimetest.Start(e, search, "deed", nil).Must(); got != "deed after 24h0m0s" {
			e.Errorf("got %s", got)
		}
		l.want(e, "slot is free", "deed after 24h0m0s")
	})
}
