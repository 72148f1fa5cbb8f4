package runtimetest_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestCarriedTwice: what a generation leaves unread survives generations that end before they look
// at it, and what was received does not come back.
func TestCarriedTwice(t *testing.T) {
	const (
		relay workflow.Name[int, []int] = "relay"
		later workflow.Signal[int]      = "later"
	)
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, relay, func(ctx workflow.Context, generation int) ([]int, error) {
			if generation == 0 {
				for range 2 {
					if _, err := number.Receive(ctx); err != nil {
						return nil, err
					}
				}
			}
			if generation < 3 {
				return nil, workflow.ContinueAsNew(ctx, relay, generation+1, nil)
			}
			if err := workflow.Sleep(ctx, time.Second); err != nil {
				return nil, err
			}
			if n := number.Pending(ctx); n > 0 {
				return []int{-n}, nil
			}
			var got []int
			for range 2 {
				v, err := later.Receive(ctx)
				if err != nil {
					return nil, err
				}
				got = append(got, v)
			}
			return got, nil
		}, nil)
		run := runtimetest.Start(e, relay, 0, &runtime.StartOptions{Delay: time.Second})
		runtimetest.Signal(e, run.ID(), number, 1, nil)
		runtimetest.Signal(e, run.ID(), later, 2, nil)
		runtimetest.Signal(e, run.ID(), later, 3, nil)
		runtimetest.Signal(e, run.ID(), number, 4, nil)
		if got := run.Must(); len(got) != 2 || got[0] != 2 || got[1] != 3 {
			e.Errorf("got %v", got)
		}
	})
}

// TestCarriedMany: more than one load brings is carried over by generations that look at none of
// it.
func TestCarriedMany(t *testing.T) {
	const (
		relay workflow.Name[int, int] = "relay"
		later workflow.Signal[int]    = "later"
		many                          = 2500
	)
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, relay, func(ctx workflow.Context, generation int) (int, error) {
			if generation == 0 {
				if _, err := number.Receive(ctx); err != nil {
					return 0, err
				}
			}
			if generation < 3 {
				return 0, workflow.ContinueAsNew(ctx, relay, generation+1, nil)
			}
			for n := range many {
				v, err := later.Receive(ctx)
				if err != nil || v != n {
					return v, err
				}
			}
			return many + number.Pending(ctx), nil
		}, nil)
		run := runtimetest.Start(e, relay, 0, &runtime.StartOptions{Delay: time.Second})
		for n := range many {
			runtimetest.Signal(e, run.ID(), later, n, nil)
		}
		runtimetest.Signal(e, run.ID(), number, 1, nil)
		if got := run.Must(); got != many {
			e.Errorf("got %d", got)
		}
	})
}
