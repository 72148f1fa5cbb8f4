package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	machine  workflow.Name[string, string]        = "machine"
	operator workflow.Name[journal.RunID, string] = "operator"
	order    workflow.Signal[string]              = "order"
	mailing  workflow.Name[[]string, string]      = "mailing"
	letter   workflow.Name[string, string]        = "letter"
	meter    workflow.Name[int, int]              = "meter"
	add      workflow.Update[int, int]            = "add"
	total    workflow.Query[struct{}, int]        = "total"
)

// machines do what they are told, until they are switched off; then they tell what they did.
func machines(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, _ string) (string, error) {
		var done []string
		for {
			what, err := order.Receive(ctx)
			if err != nil {
				_, told := workflow.Step(workflow.Shield(ctx), "log", l.enter(strings.Join(done, " ")), nil)
				return "", errors.Join(err, told)
			}
			done = append(done, what)
		}
	}
}

// operators give orders to a run that is not theirs, switch it off, and try it once more.
func operators(ctx workflow.Context, id journal.RunID) (string, error) {
	var sent []workflow.Future[struct{}]
	for _, what := range []string{"warm up", "drill", "polish"} {
		sent = append(sent, order.SendAsync(ctx, id, what))
	}
	if _, err := workflow.All(ctx, sent...); err != nil {
		return "", err
	}
	if err := order.Send(ctx, id, "rest"); err != nil {
		return "", err
	}
	if err := workflow.CancelRun(ctx, id, "end of the shift"); err != nil {
		return "", err
	}
	if err := workflow.Sleep(ctx, time.Hour); err != nil {
		return "", err
	}
	if err := workflow.CancelRun(ctx, id, "to be sure"); err != nil { // it is the same request
		return "", err
	}
	closed := order.Send(ctx, id, "drill")
	nobody := workflow.CancelRun(ctx, journal.RunID{1}, "who")
	return fmt.Sprint(errors.Is(closed, workflow.ErrRunClosed), errors.Is(nobody, workflow.ErrRunNotFound)), nil
}

// TestSendsWhateverCrashes: signals to another run arrive once and in order, before the cancel
// request that was sent after them.
func TestSendsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, machine, machines(l), nil)
		runtimetest.Handle(e, operator, operators, nil)
		other := runtimetest.Start(e, machine, "", nil)
		if got := runtimetest.Start(e, operator, other.ID(), nil).Must(); got != "true true" {
			e.Errorf("got %s", got)
		}
		if _, err := other.Result(); !errors.Is(err, workflow.ErrCancelled) || !strings.Contains(err.Error(), "end of the shift") {
			e.Errorf("ended with %v", err)
		}
		l.want(e, "warm up drill polish rest")
	})
}

// TestMapWhateverCrashes: a mailing of one child per address, two at a time. One letter gets
// through the second time it is tried, one never; the others are not concerned.
func TestMapWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, letter, func(ctx workflow.Context, to string) (string, error) {
			return workflow.Step(ctx, "post", func(ctx context.Context) (string, error) {
				switch to {
				case "moved 2", "full 1":
					return "", errors.New("came back")
				}
				return l.enter(to)(ctx)
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
		}, nil)
		runtimetest.Handle(e, mailing, func(ctx workflow.Context, to []string) (string, error) {
			tries := map[string]int{}
			open, most := 0, 0
			posted, err := workflow.Map(ctx, to, func(ctx workflow.Context, to string) (string, error) {
				tries[to]++
				open++
				most = max(most, open)
				defer func() { open-- }()
				if to == "moved" {
					return workflow.Call(ctx, letter, "moved 2", nil)
				}
				return workflow.Call(ctx, letter, fmt.Sprint(to, " ", tries[to]), nil)
			}, &workflow.MapOptions{Limit: 2, Attempts: 2, Backoff: time.Hour, CollectErrors: true})
			failed, ok := errors.AsType[*workflow.ChildError](err)
			if !ok {
				return "", err
			}
			return fmt.Sprintf("%q, at most %d, %s %v", posted, most, failed.Workflow, tries), nil
		}, nil)
		want := `["Ann 1" "full 2" "" "Dan 1"], at most 2, letter map[Ann:1 Dan:1 full:2 moved:2]`
		if got := runtimetest.Start(e, mailing, []string{"Ann", "full", "moved", "Dan"}, nil).Must(); got != want {
			e.Errorf("got  %s\nwant %s", got, want)
		}
		l.want(e, "Ann 1", "full 2", "Dan 1")
	})
}

// TestUpdatesInFlightWhateverCrashes: updates that are in flight together are served in the order
// in which they were sent, the first with the start, and each has its answer, before and after the
// run goes on as a new generation.
func TestUpdatesInFlightWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, meter, func(ctx workflow.Context, sum int) (int, error) {
			served := 0
			var turn workflow.Mutex
			total.Handle(ctx, func(struct{}) (int, error) { return sum, nil })
			add.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
				if err := turn.Lock(ctx); err != nil {
					return 0, err
				}
				defer turn.Unlock()
				v, err := workflow.Step(ctx, "read", func(context.Context) (int, error) { return v, nil }, nil)
				if err != nil {
					return 0, err
				}
				sum, served = sum*10+v, served+1
				return sum, nil
			}, nil)
			if err := workflow.Await(ctx, func() bool { return served > 1 || over.Pending(ctx) > 0 }); err != nil {
				return 0, err
			}
			if err := workflow.HandlersFinished(ctx); err != nil || over.Pending(ctx) > 0 {
				return sum, err
			}
			return 0, workflow.ContinueAsNew(ctx, meter, sum, nil)
		}, nil)
		run, first := runtimetest.UpdateWithStart(e, meter, 0, add, 1, &runtime.StartOptions{Key: "m", Delay: time.Second}, nil)
		handles := []*runtimetest.UpdateHandle[int]{first}
		for v := 2; v <= 4; v++ {
			handles = append(handles, runtimetest.SendUpdate(e, run.ID(), add, v, nil))
		}
		for i, want := range []int{1, 12, 123, 1234} {
			if got, err := handles[i].Result(); got != want || err != nil {
				e.Errorf("update %d: got %d, %v, want %d", i+1, got, err, want)
			}
		}
		if got := runtimetest.Query(e, run.ID(), total, struct{}{}); got != 1234 {
			e.Errorf("the total is %d", got)
		}
		runtimetest.Signal(e, run.ID(), over, "", nil)
		if got := run.Must(); got != 1234 {
			e.Errorf("got %d", got)
		}
	})
}
