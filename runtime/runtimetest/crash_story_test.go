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
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	journey  workflow.Name[string, string]    = "journey"
	taxi     workflow.Name[string, string]    = "taxi"
	dispatch workflow.Name[[]string, string]  = "dispatch"
	contract workflow.Name[int, string]       = "contract"
	sign     workflow.Update[string, int]     = "sign"
	signed   workflow.Query[string, []string] = "signed"
)

// journeys book one thing after the other. What undoes a booking is pushed before it, because a
// booking that was called off may have been made.
func journeys(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, who string) (string, error) {
		return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
			for _, what := range []string{"car", "seat", "room"} {
				undo.Push("undo "+what, func(ctx context.Context) error {
					_, err := l.enter("no " + what)(ctx)
					return err
				}, nil)
				if _, err := workflow.Step(ctx, what, func(ctx context.Context) (string, error) {
					if err := pause(ctx, 5*time.Minute); err != nil {
						return "", err
					}
					out, err := l.enter(what)(ctx)
					return out, errors.Join(err, pause(ctx, 5*time.Minute)) // it is booked, but the answer may get lost
				}, nil); err != nil {
					return "", err
				}
			}
			return who + " travels", nil
		})
	}
}

// TestCancelledSagaWhateverCrashes: whenever a run is cancelled and wherever its node dies, what
// was booked has been undone in the end, and nothing is booked after that.
func TestCancelledSagaWhateverCrashes(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{2 * time.Minute, 7 * time.Minute, 12 * time.Minute, 17 * time.Minute, 27 * time.Minute} {
		t.Run(after.String(), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l := &ledger{}
				runtimetest.Handle(e, journey, journeys(l), nil)
				run := runtimetest.Start(e, journey, "Ann", nil)
				e.After(after, func() { e.Cancel(run.ID(), "ill") })
				if out, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
					e.Errorf("ended with %q, %v", out, err)
				}
				e.Sleep(time.Hour)
				open := map[string]bool{}
				for _, entry := range l.list() {
					if what, undone := strings.CutPrefix(entry, "no "); undone {
						delete(open, what)
					} else {
						open[entry] = true
					}
				}
				if len(open) > 0 {
					e.Errorf("%v is booked, of %q", open, l.list())
				}
			})
		})
	}
}

// TestRaceOfChildrenWhateverCrashes: the taxi that is there first is taken. The others hear of it,
// and are on their way home before the run ends.
func TestRaceOfChildrenWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, taxi, func(ctx workflow.Context, from string) (string, error) {
			if err := workflow.Sleep(ctx, time.Duration(len(from))*time.Minute); err != nil {
				_, home := workflow.Step(workflow.Shield(ctx), "home", l.enter(from), nil)
				return "", errors.Join(err, home)
			}
			return "taxi from " + from, nil
		}, nil)
		runtimetest.Handle(e, dispatch, func(ctx workflow.Context, stands []string) (string, error) {
			var ways []func(workflow.Context) (string, error)
			for _, stand := range stands {
				ways = append(ways, func(ctx workflow.Context) (string, error) { return workflow.Call(ctx, taxi, stand, nil) })
			}
			_, came, err := workflow.Race(ctx, ways...)
			return came, err
		}, nil)
		run := runtimetest.Start(e, dispatch, []string{"the airport", "station", "the harbour"}, nil)
		if got := run.Must(); got != "taxi from station" {
			e.Errorf("got %s", got)
		}
		l.want(e, "the airport", "the harbour")
		page, err := e.Client().List(e.Context(), journal.ListFilter{Parent: run.ID()})
		ends := map[journal.Status]int{}
		for i := range page.Runs {
			ends[page.Runs[i].Status]++
		}
		if err != nil || ends[journal.Completed] != 1 || ends[journal.Cancelled] != 2 {
			e.Errorf("children: %v, %v", ends, err)
		}
	})
}

// TestContractWhateverCrashes: a contract waits for signatures, which come as updates that wait for
// each other, within a time that is limited. Each signature is filed before its signer hears of it;
// those who sign too late hear that it is over.
func TestContractWhateverCrashes(t *testing.T) {
	t.Parallel()
	for who, want := range map[string]string{"Ann Bob": "[Ann Bob]", "Ann": "[Ann] only, 72h0m0s"} {
		t.Run(who, func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l := &ledger{}
				runtimetest.Handle(e, contract, contracts(l), nil)
				run := runtimetest.Start(e, contract, 2, nil)
				for i, name := range strings.Fields(who) {
					e.Sleep(24 * time.Hour)
					if n, err := runtimetest.Update(e, run.ID(), sign, name, nil); n != i+1 || err != nil {
						e.Errorf("%s signed as number %d, %v", name, n, err)
					}
				}
				if got := run.Must(); got != want {
					e.Errorf("got %s, want %s", got, want)
				}
				l.want(e, strings.Fields(who)...)
				if _, err := runtimetest.Update(e, run.ID(), sign, "Cleo", nil); !errors.Is(err, journal.ErrClosed) {
					e.Errorf("signed too late: %v", err)
				}
				if got := runtimetest.Query(e, run.ID(), signed, ""); fmt.Sprint(got) != fmt.Sprint(strings.Fields(who)) {
					e.Errorf("signed by %q", got)
				}
			})
		})
	}
}

func contracts(l *ledger) func(workflow.Context, int) (string, error) {
	return func(ctx workflow.Context, needed int) (string, error) {
		began := ctx.Now()
		var names []string
		complete := workflow.NewPromise[[]string]()
		pen := workflow.NewSemaphore(1, "pen")
		signed.Handle(ctx, func(string) ([]string, error) { return names, nil })
		sign.Handle(ctx, func(ctx workflow.Context, name string) (int, error) {
			if err := pen.Acquire(ctx, 1); err != nil {
				return 0, err
			}
			defer pen.Release(1)
			name, err := workflow.Step(ctx, "file", l.enter(name), nil)
			if err != nil {
				return 0, err
			}
			if names = append(names, name); len(names) == needed {
				complete.Resolve(names)
			}
			return len(names), nil
		}, nil)
		limited, cancel := workflow.WithTimeout(ctx, 72*time.Hour)
		defer cancel()
		all, err := complete.Future().Get(limited)
		if errors.Is(err, workflow.ErrTimeout) {
			return fmt.Sprint(names, " only, ", ctx.Now().Sub(began).Truncate(time.Hour)), workflow.HandlersFinished(ctx)
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprint(all), workflow.HandlersFinished(ctx)
	}
}
