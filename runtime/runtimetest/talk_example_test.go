package runtimetest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// The code under test: a seat that is held for a quarter of an hour after each renewal.
const (
	Seat    workflow.Name[string, string]           = "seat"
	Renew   workflow.Update[int, time.Duration]     = "renew"
	Release workflow.Signal[string]                 = "release"
	Held    workflow.Query[struct{}, time.Duration] = "held"
)

func seat(ctx workflow.Context, guest string) (string, error) {
	began, until := ctx.Now(), ctx.Now().Add(15*time.Minute)
	Held.Handle(ctx, func(struct{}) (time.Duration, error) { return until.Sub(began), nil })
	Renew.Handle(ctx, func(ctx workflow.Context, minutes int) (time.Duration, error) {
		until = ctx.Now().Add(time.Duration(minutes) * time.Minute)
		return until.Sub(began), nil
	}, &workflow.UpdateOptions[int]{Validate: func(minutes int) error {
		if minutes > 60 {
			return errors.New("at most an hour")
		}
		return nil
	}})
	for until.After(ctx.Now()) {
		why, ok, err := Release.ReceiveTimeout(ctx, until.Sub(ctx.Now()))
		if err != nil || ok {
			return guest + ": " + why, err
		}
	}
	return guest + ": time is up", nil
}

func ExampleUpdate() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Seat, seat, nil)
			run := runtimetest.Start(e, Seat, "Ann", nil)
			e.Sleep(10 * time.Minute)
			fmt.Println(runtimetest.Update(e, run.ID(), Renew, 30, nil))
			_, err := runtimetest.Update(e, run.ID(), Renew, 90, nil)
			fmt.Println(errors.Is(err, runtime.ErrRejected))
			fmt.Println(run.Must(), "after", e.Elapsed())
		})
	})
	// Output:
	// 40m0s <nil>
	// true
	// Ann: time is up after 40m0s
}

func ExampleQuery() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Seat, seat, nil)
			run := runtimetest.Start(e, Seat, "Ann", nil)
			fmt.Println(runtimetest.Query(e, run.ID(), Held, struct{}{}))
			run.Must()
			fmt.Println(runtimetest.Query(e, run.ID(), Held, struct{}{})) // also after the end
		})
	})
	// Output:
	// 15m0s
	// 15m0s
}

func ExampleSignalWithStart() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Seat, seat, nil)
			key := &runtime.StartOptions{Key: "seat 12"}
			run := runtimetest.SignalWithStart(e, Seat, "Ann", Release, "no interest", key, nil)
			fmt.Println(run.Must())
		})
	})
	// Output: Ann: no interest
}

// The guest asks for half an hour more and, before there is an answer, for too much.
func ExampleSendUpdate() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Seat, seat, nil)
			run := runtimetest.Start(e, Seat, "Ann", nil)
			more := runtimetest.SendUpdate(e, run.ID(), Renew, 30, nil)
			tooMuch := runtimetest.SendUpdate(e, run.ID(), Renew, 90, nil)
			fmt.Println(more.Result())
			_, err := tooMuch.Result()
			fmt.Println(errors.Is(err, runtime.ErrRejected))
			fmt.Println(run.Must(), "after", e.Elapsed())
		})
	})
	// Output:
	// 30m0s <nil>
	// true
	// Ann: time is up after 30m0s
}

// Whoever comes first takes the seat; the others only renew.
func ExampleUpdateWithStart() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Seat, seat, nil)
			for _, guest := range []string{"Ann", "Bob"} {
				run, renewed := runtimetest.UpdateWithStart(e, Seat, guest, Renew, 20, &runtime.StartOptions{Key: "seat 12"}, nil)
				until, err := renewed.Result()
				fmt.Println(run.Created(), until, err)
				if guest == "Bob" {
					fmt.Println(run.Must())
				}
			}
		})
	})
	// Output:
	// true 20m0s <nil>
	// false 20m0s <nil>
	// Ann: time is up
}

func ExampleEnv_Generations() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, counter, func(ctx workflow.Context, n int) (int, error) {
				if err := workflow.Sleep(ctx, time.Hour); err != nil || n == 2 {
					return n, err
				}
				return 0, workflow.ContinueAsNew(ctx, counter, n+1, nil)
			}, nil)
			run := runtimetest.Start(e, counter, 1, nil)
			run.Must()
			for _, h := range e.Generations(run.ID()) {
				fmt.Printf("generation %d\n%s", h.Run.Generation, h)
			}
		})
	})
	// Output:
	// generation 1
	// 1 RunStarted > timer
	// 2 TimerFired
	// 3 RunContinued
	// generation 2
	// 1 RunStarted > timer
	// 2 TimerFired
	// 3 RunCompleted
}
