package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	scan  workflow.Name[int, string]    = "scan"
	fetch workflow.Name[string, string] = "fetch"
	book  workflow.Name[int, int]       = "book"
	trip  workflow.Name[string, string] = "trip"
)

// scanner reads pages in a step that jams at one page, and at another hangs without a sign of life.
// An attempt begins where the one before has left off; if that was cut off by a crash, it may have
// told of more than its failures.
type scanner struct {
	mu     sync.Mutex
	seen   map[int]bool
	faults []string
}

func (s *scanner) read(pages int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		a, _ := workflow.StepInfo(ctx)
		last, ok := workflow.LastHeartbeat[int](ctx)
		if failed := (a.Attempt - 1) * 3; last < failed || ok != (last > 0) || a.IdempotencyKey != workflow.IdempotencyKey(ctx) || a.Step != "read" {
			s.fault(fmt.Sprintf("attempt %d of %s begins at page %d, %v", a.Attempt, a.Step, last, ok))
		}
		for page := last + 1; page <= pages; page++ {
			time.Sleep(time.Minute)
			s.mu.Lock()
			s.seen[page] = true
			s.mu.Unlock()
			if err := workflow.Heartbeat(ctx, page); err != nil {
				return "", err
			}
			switch page {
			case 3:
				return "", errors.New("jammed")
			case 6:
				<-ctx.Done() // its lamp has gone out
				return "", ctx.Err()
			}
		}
		return fmt.Sprint(pages, " pages"), nil
	}
}

func (s *scanner) fault(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, text)
}

// TestHeartbeatsWhateverCrashes: an attempt knows how far the one before it came, also on another
// node.
func TestHeartbeatsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		s := &scanner{seen: map[int]bool{}}
		runtimetest.Handle(e, scan, func(ctx workflow.Context, pages int) (string, error) {
			out, err := workflow.Step(ctx, "read", s.read(pages), &workflow.StepOptions{HeartbeatTimeout: 10 * time.Minute})
			if err != nil {
				return "", err
			}
			return out, workflow.Do(ctx, "file", func(context.Context) error { return nil }, nil)
		}, nil)
		if got := runtimetest.Start(e, scan, 8, nil).Must(); got != "8 pages" {
			e.Errorf("got %s", got)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.seen) != 8 || len(s.faults) > 0 || e.Effects("file") < 1 {
			e.Errorf("read %v, faults %q", s.seen, s.faults)
		}
	})
}

// TestRetriesWhateverCrashes: a server says when to come back, and then that there is no use in
// coming back. A crash makes no attempt come early, and none more of what is permanent.
func TestRetriesWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, fetch, func(ctx workflow.Context, what string) (string, error) {
			page, err := workflow.Step(ctx, "get", func(ctx context.Context) (string, error) {
				if a, _ := workflow.StepInfo(ctx); a.Attempt == 1 {
					return "", workflow.RetryAfter(errors.New("maintenance"), 6*time.Hour)
				}
				return what, nil
			}, nil)
			if err != nil {
				return "", err
			}
			_, err = workflow.Step(ctx, "get more", func(context.Context) (string, error) {
				return "", workflow.Permanent(errors.New("gone"))
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour}})
			failed, ok := errors.AsType[*workflow.StepError](err)
			if !ok {
				return "", fmt.Errorf("no step error: %w", err)
			}
			_, err = workflow.Step(ctx, "ping", func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}, &workflow.StepOptions{AttemptTimeout: time.Minute, Retry: &workflow.RetryPolicy{Attempts: 2, Jitter: -1}})
			timeout := errors.Is(err, workflow.ErrTimeout)
			err = workflow.Do(ctx, "print", func(context.Context) error { panic("no paper") },
				&workflow.StepOptions{Retry: &workflow.RetryPolicy{Panics: 2, Jitter: -1}})
			printed, ok := errors.AsType[*workflow.StepError](err)
			if !ok || printed.Type() != journal.FailurePanic {
				return "", fmt.Errorf("no panic: %w", err)
			}
			return fmt.Sprint(page, ": ", failed.Step, ": ", failed.Failure.Message, ", timeout ", timeout), nil
		}, nil)
		if got := runtimetest.Start(e, fetch, "index", nil).Must(); got != "index: get more: gone, timeout true" {
			e.Errorf("got %s", got)
		}
		for step, attempts := range map[string]int{"get": 2, "get more": 1, "ping": 2, "print": 2} {
			calls := e.Calls(step)
			if most := slices.MaxFunc(calls, func(a, b runtimetest.Call) int { return a.Attempt - b.Attempt }); most.Attempt != attempts {
				e.Errorf("%s had %d attempts, want %d", step, most.Attempt, attempts)
			}
			for _, c := range calls {
				if c.Key != calls[0].Key || step == "get" && c.Attempt == 2 && c.At-calls[0].At < 6*time.Hour {
					e.Errorf("attempt %+v of %+v", c, calls)
				}
			}
		}
	})
}

// TestTransactionsWhateverCrashes: steps in transactions take effect once each, also those that
// nobody waited for at first, and what a failed attempt did in its transaction has not happened.
func TestTransactionsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		booked := map[string]int{}
		put := func(account string, amount int) func(context.Context, *memory.Effects) (int, error) {
			return func(ctx context.Context, tx *memory.Effects) (int, error) {
				tx.Do(func() { booked[account] += amount })
				if a, _ := workflow.StepInfo(ctx); account == "to" && a.Attempt == 1 {
					return 0, errors.New("serialization failure")
				}
				return amount, nil
			}
		}
		runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
			fee := workflow.StepTxAsync(ctx, "fee", put("fees", 1), nil)
			if _, err := workflow.StepTx(ctx, "withdraw", put("from", -amount-1), nil); err != nil {
				return 0, err
			}
			if _, err := workflow.StepTx(ctx, "deposit", put("to", amount), nil); err != nil {
				return 0, err
			}
			return fee.Get(ctx)
		}, nil)
		run := runtimetest.Start(e, book, 10, nil)
		if got := run.Must(); got != 1 || booked["fees"] != 1 || booked["from"] != -11 || booked["to"] != 10 {
			e.Errorf("got %d, booked %v", got, booked)
		}
	})
}

// trips book a car and a seat, which are undone if there is no room: the seat, which came last,
// first.
func trips(l *ledger, refund func(context.Context, *memory.Effects) error, stuck bool) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, room string) (string, error) {
		return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
			undo.Push("return car", func(ctx context.Context) error {
				if stuck {
					return workflow.Permanent(errors.New("the office is closed"))
				}
				_, err := l.enter("car is back")(ctx)
				return err
			}, nil)
			if _, err := workflow.Step(ctx, "car", l.enter("car"), nil); err != nil {
				return "", err
			}
			if _, err := workflow.Step(ctx, "seat", l.enter("seat"), nil); err != nil {
				return "", err
			}
			workflow.PushTx(undo, "refund seat", refund, nil)
			return workflow.Step(ctx, "room", func(context.Context) (string, error) {
				if room == "" {
					return "", workflow.Permanent(errors.New("no room"))
				}
				return room, nil
			}, nil)
		})
	}
}

// TestSagaWhateverCrashes: every compensation has happened when the run has failed, those in a
// transaction once; somebody is told of one that fails for good.
func TestSagaWhateverCrashes(t *testing.T) {
	t.Parallel()
	for _, stuck := range []bool{false, true} {
		t.Run(fmt.Sprint("stuck ", stuck), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l, refunded := &ledger{}, 0
				code := trips(l, func(_ context.Context, tx *memory.Effects) error {
					tx.Do(func() { refunded++ })
					return nil
				}, stuck)
				runtimetest.Handle(e, trip, func(ctx workflow.Context, room string) (string, error) {
					out, err := code(ctx, room)
					if failed, ok := errors.AsType[*workflow.SagaError](err); ok && len(failed.Failures) == 1 {
						return workflow.Step(ctx, "tell", l.enter(failed.Error()), nil)
					}
					return out, err
				}, nil)
				run := runtimetest.Start(e, trip, "", nil)
				told, err := run.Result()
				want := `
					1 RunStarted > step car
					2 StepCompleted car > step seat
					3 StepCompleted seat > step room
					4 StepFailed room: no room > step refund seat
					5 StepCompleted refund seat > step return car`
				if stuck {
					l.want(e, "car", "seat", "step room: no room; could not undo: step return car: the office is closed")
					want += `
						6 StepFailed return car: the office is closed > step tell
						7 StepCompleted tell
						8 RunCompleted`
				} else {
					l.want(e, "car", "seat", "car is back")
					want += `
						6 StepCompleted return car
						7 RunFailed: no room`
				}
				if stuck != (err == nil) || refunded != 1 {
					e.Errorf("told %q, %v, refunded %d times", told, err, refunded)
				}
				e.WantHistory(run.ID(), want)
			})
		})
	}
}

// TestLastHeartbeatSurvives: an attempt that reports twice and then works for an hour loses nothing
// in a crash.
func TestLastHeartbeatSurvives(t *testing.T) {
	t.Parallel()
	for _, passivate := range []bool{false, true} {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Node.PassivateAlways = passivate
			runtimetest.Handle(e, scan, func(ctx workflow.Context, _ int) (string, error) {
				return workflow.Step(ctx, "read", func(ctx context.Context) (string, error) {
					if page, ok := workflow.LastHeartbeat[int](ctx); ok {
						return fmt.Sprint(page), nil
					}
					for page := range 3 {
						if err := workflow.Heartbeat(ctx, page); err != nil {
							return "", err
						}
						time.Sleep(time.Second)
					}
					<-ctx.Done() // an hour of work
					return "", ctx.Err()
				}, nil)
			}, nil)
			r := runtimetest.Start(e, scan, 0, nil)
			e.After(time.Hour, e.Crash)
			if got := r.Must(); got != "2" {
				e.Errorf("the next attempt saw %s, the last heartbeat said 2", got)
			}
		})
	}
}
