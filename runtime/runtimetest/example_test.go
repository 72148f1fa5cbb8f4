package runtimetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// The code under test: a trial month, which ends early if the customer says so.
const (
	Trial workflow.Name[string, string] = "trial"
	Leave workflow.Signal[string]       = "leave"
)

func trial(ctx workflow.Context, customer string) (string, error) {
	why, left, err := Leave.ReceiveTimeout(ctx, 30*24*time.Hour)
	if err != nil {
		return "", err
	}
	if left {
		return customer + " left: " + why, nil
	}
	return workflow.Step(ctx, "charge", charge(customer), nil)
}

func charge(customer string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return customer + " was charged", nil }
}

func ExampleTest() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			run := runtimetest.Start(e, Trial, "Ann", nil)
			fmt.Println(run.Must(), "after", e.Elapsed())
		})
	})
	// Output: Ann was charged after 720h0m0s
}

func ExampleEnv_After() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			run := runtimetest.Start(e, Trial, "Ann", nil)
			e.After(9*24*time.Hour, func() { runtimetest.Signal(e, run.ID(), Leave, "too loud", nil) })
			fmt.Println(run.Must())
			fmt.Print(e.History(run.ID()))
		})
	})
	// Output:
	// Ann left: too loud
	// 1 RunStarted > timer leave
	// 2 SignalReceived leave > cancel 1
	// 3 RunCompleted
}

func ExampleFake() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			runtimetest.Fake(e, "charge", func(context.Context) (string, error) { return "only in the test", nil })
			fmt.Println(runtimetest.Start(e, Trial, "Ann", nil).Must())
		})
	})
	// Output: only in the test
}

func ExampleEnv_FailNext() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			e.FailNext("charge", errors.New("timeout"), workflow.RetryAfter(errors.New("closed"), 8*time.Hour))
			fmt.Println(runtimetest.Start(e, Trial, "Ann", nil).Must())
			for _, c := range e.Calls("charge") {
				fmt.Printf("attempt %d after %s: %v\n", c.Attempt, c.At.Round(time.Hour), c.Err)
			}
		})
	})
	// Output:
	// Ann was charged
	// attempt 1 after 720h0m0s: timeout
	// attempt 2 after 720h0m0s: closed
	// attempt 3 after 728h0m0s: <nil>
}

func ExampleEnv_Crash() {
	inTest(func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			run := runtimetest.Start(e, Trial, "Ann", nil)
			e.Sleep(15 * 24 * time.Hour)
			e.Crash()
			fmt.Println(run.Must(), "after", e.Elapsed())
		})
	})
	// Output: Ann was charged after 720h0m0s
}

// The node crashes at every turn. The run ends well each time, but the step is executed again where
// its outcome was lost.
func ExampleEveryCrash() {
	inTest(func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, Trial, trial, nil)
			run := runtimetest.Start(e, Trial, "Ann", nil)
			fmt.Println(run.Must(), e.Effects("charge"), "times")
		})
	})
	// Output:
	// Ann was charged 1 times
	// Ann was charged 1 times
	// Ann was charged 1 times
	// Ann was charged 1 times
	// Ann was charged 1 times
	// Ann was charged 2 times
	// Ann was charged 1 times
}

// inTest has an example run as a test function, quietly and once.
func inTest(fn func(*testing.T)) {
	for name, value := range map[string]string{"test.v": "false", "test.count": "1", "test.skip": ""} {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			panic(err)
		}
		defer f.Value.Set(before)
	}
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: "Example", F: fn}}) {
		fmt.Println("the test failed")
	}
}
