package temporal

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestExpense(t *testing.T) {
	program := func(e *runtimetest.Env, w *world) *runtimetest.Run[string] {
		runtimetest.Handle(e, Expenses, (&office{
			open: func(ctx context.Context, x Expense) error { return w.do(ctx, "open "+x.ID, "opened") },
			pay:  func(ctx context.Context, key string, x Expense) error { return w.do(ctx, key, "paid") },
		}).expense, nil)
		return runtimetest.Start(e, Expenses, Expense{ID: "7", Cents: 1200, Patience: 10 * day}, nil)
	}
	decide := func(e *runtimetest.Env, run *runtimetest.Run[string], yes bool) {
		e.After(3*day, func() { runtimetest.Signal(e, run.ID(), ExpenseDecision, yes, nil) })
	}
	t.Run("paid", func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			w := newWorld()
			run := program(e, w)
			decide(e, run, true)
			wants(e, run, "paid", 3*day)
			w.want(e, "opened", "paid")
		})
	})
	t.Run("rejected", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			w := newWorld()
			run := program(e, w)
			decide(e, run, false)
			wants(e, run, "rejected", 3*day)
			w.want(e, "opened")
		})
	})
	t.Run("expired", func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			w := newWorld()
			wants(e, program(e, w), "expired", 10*day)
			w.want(e, "opened")
		})
	})
}

func TestPeriodic(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		w := newWorld()
		runtimetest.Handle(e, Periodic, job(func(ctx context.Context, at time.Time, last string) (string, error) {
			if at.Day() == 4 {
				return "", errors.New("the disk is full")
			}
			today := at.Format("Jan 2")
			return today, w.do(ctx, today, today+" after "+last)
		}).periodic, nil)
		run := runtimetest.Start(e, Periodic, Period{Every: day}, nil) // at midnight of January 1
		e.After(5*day+time.Hour, func() { e.Cancel(run.ID(), "enough") })
		if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("error %v", err)
		}
		w.want(e, "Jan 2 after ", "Jan 3 after Jan 2", "Jan 5 after Jan 3", "Jan 6 after Jan 5")
	})
}

func TestCountdownIsMoved(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Countdown, countdown, nil)
		at := func(d time.Duration) time.Time { return started(e).Add(d).UTC() }
		run := runtimetest.Start(e, Countdown, at(30*day), nil)
		e.After(1*day, func() { runtimetest.Signal(e, run.ID(), Move, at(90*day), nil) })
		e.After(2*day, func() { runtimetest.Signal(e, run.ID(), Move, at(7*day), nil) })
		wants(e, run, at(7*day), 7*day)
	})
}

func TestSubscription(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		w := newWorld()
		runtimetest.Handle(e, Subscription, biller(w.do).subscription, nil)
		run := runtimetest.Start(e, Subscription, "Ann", nil)
		e.After(70*day, func() { runtimetest.Signal(e, run.ID(), Unsubscribe, "too dear", nil) })
		wants(e, run, 2, 70*day)
		w.want(e, "Ann", "Ann")
	})
}

// readyAt answers from a time on.
func readyAt(at time.Time, asked *atomic.Int32) service {
	return func(context.Context, string) (string, error) {
		asked.Add(1)
		if time.Now().Before(at) {
			return "", errNotReady
		}
		return "42", nil
	}
}

func TestPolling(t *testing.T) {
	for name, test := range map[string]struct {
		workflow workflow.Name[string, string]
		ready    time.Duration
		after    time.Duration
		asked    int32
	}{
		"often":  {PollOften, 10 * time.Minute, 10 * time.Minute, 601},
		"seldom": {PollSeldom, 10 * time.Hour, 10*time.Hour + 51*time.Minute, 20},
		"paged":  {PollPaged, 10 * time.Hour, 10*time.Hour + 30*time.Minute, 36},
	} {
		t.Run(name, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				var asked atomic.Int32
				s := readyAt(started(e).Add(test.ready), &asked)
				runtimetest.Handle(e, PollOften, s.often, nil)
				runtimetest.Handle(e, PollSeldom, s.seldom, nil)
				runtimetest.Handle(e, PollPaged, s.paged, nil)
				runtimetest.Handle(e, pollPages, s.pages, nil)
				wants(e, runtimetest.Start(e, test.workflow, "?", nil), "42", test.after)
				if n := asked.Load(); n != test.asked {
					e.Errorf("asked %d times, want %d", n, test.asked)
				}
			})
		})
	}
}

func TestLottery(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		opens := started(e)
		f := &fair{
			secret: func() int { return 7 },
			open:   func() bool { return time.Since(opens) < 3*time.Hour },
		}
		runtimetest.Handle(e, Lottery, f.lottery, nil)
		run := runtimetest.Start(e, Lottery, []string{"Ann", "Bob", "Cyd"}, nil)
		d := run.Must()
		if d.Winner != "Bob" || d.Waited != 3 || len(d.Tickets) != 3 || d.Tickets[0] == d.Tickets[1] {
			e.Errorf("drawn: %+v", d)
		}
	})
}

func TestParking(t *testing.T) {
	program := func(e *runtimetest.Env, free map[string]time.Duration) *runtimetest.Run[Place] {
		g := &garages{
			ask: func(ctx context.Context, garage string) error {
				select {
				case <-time.After(free[garage]):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
			sorry: func(context.Context, string) error { return nil },
		}
		runtimetest.Handle(e, Parking, g.parking, nil)
		return runtimetest.Start(e, Parking, []string{"east", "west"}, nil)
	}
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run := program(e, map[string]time.Duration{"east": 3 * time.Hour, "west": 2 * time.Minute})
		wants(e, run, Place{"west", false}, 2*time.Minute)
	})
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run := program(e, map[string]time.Duration{"east": 7 * time.Minute, "west": 3 * time.Hour})
		wants(e, run, Place{"east", true}, 7*time.Minute)
	})
	runtimetest.Test(t, func(e *runtimetest.Env) {
		run := program(e, map[string]time.Duration{"east": 3 * time.Hour, "west": 3 * time.Hour})
		if _, err := run.Result(); err == nil || e.Elapsed() != time.Hour || len(e.Calls("sorry")) != 1 {
			e.Errorf("error %v after %s", err, e.Elapsed())
		}
	})
}
