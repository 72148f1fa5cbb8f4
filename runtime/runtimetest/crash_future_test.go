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
	purchase workflow.Name[string, string] = "purchase"
	approve  workflow.Signal[bool]         = "approve"
	shipment workflow.Name[string, string] = "shipment"
)

// offer is a supplier's answer: some are slow, one has nothing.
func offer(after time.Duration, price int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		time.Sleep(after)
		if price == 0 {
			return 0, workflow.Permanent(errors.New("sold out"))
		}
		return price, nil
	}
}

// purchases ask three suppliers, and buy when the boss has approved. Two strands wait for that
// promise.
func purchases(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, what string) (string, error) {
		none := workflow.StepAsync(ctx, "offer none", offer(time.Minute, 0), nil)
		fast := workflow.StepAsync(ctx, "offer fast", offer(5*time.Minute, 30), nil)
		slow := workflow.StepAsync(ctx, "offer slow", offer(25*time.Minute, 20), nil)
		first, _, firstErr := workflow.First(ctx, slow, none, fast)
		good, price, err := workflow.FirstSuccess(ctx, slow, none, fast)
		if err != nil {
			return "", err
		}
		early := slow.Ready()
		both, err := workflow.All(ctx, fast, slow)
		if err != nil {
			return "", err
		}
		_, allErr := workflow.All(ctx, fast, none)

		approved := workflow.NewPromise[string]()
		workflow.Go(ctx, func(ctx workflow.Context) {
			switch yes, err := approve.Receive(ctx); {
			case err != nil:
			case yes:
				approved.Resolve("yes")
			default:
				approved.Fail(errors.New("too dear"))
			}
		})
		var told string
		var telling workflow.WaitGroup
		telling.Go(ctx, func(ctx workflow.Context) {
			told, _ = approved.Future().Get(ctx)
		})
		if _, err := approved.Future().Get(ctx); err != nil {
			return fmt.Sprint("not bought: ", err), telling.Wait(ctx)
		}
		again := approved.Resolve("no") || approved.Fail(errors.New("no"))
		if _, err := workflow.Step(ctx, "buy", l.enter(fmt.Sprint(what, " for ", both[1])), nil); err != nil {
			return "", err
		}
		return fmt.Sprintln(first, firstErr != nil, good, price, early, both, allErr != nil, told, again), telling.Wait(ctx)
	}
}

func TestFuturesWhateverCrashes(t *testing.T) {
	t.Parallel()
	for yes, want := range map[bool]string{
		true:  "1 true 2 30 false [30 20] true yes false\n",
		false: "not bought: too dear",
	} {
		t.Run(fmt.Sprint(yes), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l := &ledger{}
				runtimetest.Handle(e, purchase, purchases(l), nil)
				run := runtimetest.Start(e, purchase, "paper", nil)
				e.After(24*time.Hour, func() { runtimetest.Signal(e, run.ID(), approve, yes, nil) })
				if got := run.Must(); got != want {
					e.Errorf("got %s, want %s", got, want)
				}
				if yes {
					l.want(e, "paper for 20")
				} else {
					l.want(e)
				}
			})
		})
	}
}

// shipments take the way on which a carrier is found first, and call the other off.
func shipments(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, parcel string) (string, error) {
		calledOff := ""
		way, carrier, err := workflow.Race(ctx,
			func(ctx workflow.Context) (string, error) { // looks for a ship, for days
				ship, err := workflow.Step(ctx, "find a ship", func(ctx context.Context) (string, error) {
					return "ship", pause(ctx, 30*24*time.Hour)
				}, nil)
				if errors.Is(err, workflow.ErrCancelled) && ctx.Cancelled() {
					calledOff, _ = workflow.Step(workflow.Shield(ctx), "call off", l.enter("no ship"), nil)
				}
				return ship, err
			},
			func(ctx workflow.Context) (string, error) {
				if err := workflow.Sleep(ctx, 5*time.Hour); err != nil {
					return "", err
				}
				return workflow.Step(ctx, "find a plane", l.enter("plane"), nil)
			})
		return fmt.Sprint(way, " ", carrier, " for ", parcel, ", ", calledOff), err
	}
}

func TestRaceWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, shipment, shipments(l), nil)
		if got := runtimetest.Start(e, shipment, "books", nil).Must(); got != "1 plane for books, no ship" {
			e.Errorf("got %s", got)
		}
		if l.want(e, "plane", "no ship"); e.Elapsed() > 24*time.Hour {
			e.Errorf("it took %s", e.Elapsed())
		}
	})
}
