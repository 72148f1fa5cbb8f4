package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	parentName workflow.Name[int, string]          = "parent"
	childName  workflow.Name[string, string]       = "child"
	families   workflow.Name[int, []journal.RunID] = "families"
	goOn       workflow.Signal[string]             = "go on"
	counter    workflow.Name[int, int]             = "counter"
	number     workflow.Signal[int]                = "number"
)

func greet(ctx workflow.Context, who string) (string, error) {
	return workflow.Step(ctx, "greet", func(context.Context) (string, error) { return "hello " + who, nil }, nil)
}

func TestChildCompletes(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, childName, greet, nil)
		runtimetest.Handle(e, parentName, func(ctx workflow.Context, n int) (string, error) {
			all, err := workflow.Map(ctx, make([]int, n), func(ctx workflow.Context, _ int) (string, error) {
				return workflow.Call(ctx, childName, "you", nil)
			}, nil)
			return fmt.Sprint(all), err
		}, nil)
		if got := runtimetest.Start(e, parentName, 2, nil).Must(); got != "[hello you hello you]" {
			e.Errorf("got %s", got)
		}
	})
}

func TestChildKeyExists(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, childName, greet, nil)
		runtimetest.Handle(e, parentName, func(ctx workflow.Context, n int) (string, error) {
			_, err := workflow.Call(ctx, childName, "you", &workflow.ChildOptions{Key: "taken"})
			if !errors.Is(err, workflow.ErrKeyExists) {
				return "", fmt.Errorf("not refused: %v", err)
			}
			return "refused", nil
		}, nil)
		runtimetest.Start(e, childName, "x", &runtime.StartOptions{Key: "taken"}).Must()
		if got := runtimetest.Start(e, parentName, 2, nil).Must(); got != "refused" {
			e.Errorf("got %s", got)
		}
	})
}

func TestSignalToChildAndCancel(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, childName, func(ctx workflow.Context, who string) (string, error) {
			v, err := goOn.Receive(ctx)
			if err != nil {
				return "", err
			}
			_, err = goOn.Receive(ctx)
			if !errors.Is(err, workflow.ErrCancelled) {
				return "", fmt.Errorf("not cancelled: %v", err)
			}
			return "cancelled after " + v, nil
		}, nil)
		runtimetest.Handle(e, parentName, func(ctx workflow.Context, n int) (string, error) {
			c := workflow.CallAsync(ctx, childName, "you", nil)
			if err := goOn.Send(ctx, c.ID(), "one"); err != nil {
				return "", err
			}
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				return "", err
			}
			c.Cancel()
			v, err := c.Get(ctx)
			if err != nil {
				return "", err
			}
			err = goOn.Send(ctx, c.ID(), "two")
			if !errors.Is(err, workflow.ErrRunClosed) {
				return "", fmt.Errorf("%q, sent: %v", v, err)
			}
			return v, nil
		}, nil)
		if got := runtimetest.Start(e, parentName, 2, nil).Must(); got != "cancelled after one" {
			e.Errorf("got %s", got)
		}
	})
}

func TestContinueKeepsUnreadSignals(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, counter, func(ctx workflow.Context, sum int) (int, error) {
			v, err := number.Receive(ctx)
			if err != nil {
				return 0, err
			}
			if v == 0 {
				return sum, nil
			}
			return 0, workflow.ContinueAsNew(ctx, counter, sum*10+v, nil)
		}, nil)
		run := runtimetest.Start(e, counter, 0, &runtime.StartOptions{Delay: time.Second})
		for v := range 4 {
			runtimetest.Signal(e, run.ID(), number, (v+1)%4, nil)
		}
		if got := run.Must(); got != 123 {
			e.Errorf("got %d", got)
		}
	})
}

func TestParentCloses(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, childName, func(ctx workflow.Context, who string) (string, error) {
			return "", workflow.Sleep(ctx, 24*time.Hour)
		}, nil)
		runtimetest.Handle(e, families, func(ctx workflow.Context, n int) ([]journal.RunID, error) {
			var ids []journal.RunID
			for _, p := range []workflow.ClosePolicy{workflow.CloseCancel, workflow.CloseTerminate, workflow.CloseAbandon} {
				c := workflow.CallAsync(ctx, childName, "you", &workflow.ChildOptions{OnParentClose: p})
				ids = append(ids, c.ID())
			}
			return ids, workflow.Sleep(ctx, time.Minute)
		}, nil)
		ids := runtimetest.Start(e, families, 2, nil).Must()
		e.Sleep(25 * time.Hour)
		want := []journal.Status{journal.Cancelled, journal.Terminated, journal.Completed}
		for i, w := range want {
			d, err := e.Client().Describe(e.Context(), ids[i])
			if err != nil || d.Run.Status != w {
				e.Errorf("%v, %v, want %v", d.Run.Status, err, w)
			}
		}
	})
}

// A saga that goes on as the next generation has not failed: what it did stays done.
func TestSagaContinuesWithoutUndoing(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, counter, func(ctx workflow.Context, n int) (int, error) {
			return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (int, error) {
				undo.Push("undo", func(context.Context) error { return nil }, nil)
				if n == 3 {
					return n, nil
				}
				return 0, workflow.ContinueAsNew(ctx, counter, n+1, nil)
			})
		}, nil)
		if got := runtimetest.Start(e, counter, 0, nil).Must(); got != 3 || len(e.Calls("undo")) > 0 {
			e.Errorf("got %d, undone %d times", got, len(e.Calls("undo")))
		}
	})
}

// The length of a history can be part of a condition, and what it said is kept when the limits
// change.
func TestConditionMayAskWhetherToContinue(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 4
		runtimetest.Handle(e, counter, func(ctx workflow.Context, generation int) (int, error) {
			if generation == 3 {
				return generation, nil
			}
			workflow.Go(ctx, func(ctx workflow.Context) {
				for {
					if _, err := number.Receive(ctx); err != nil {
						return
					}
				}
			})
			if err := workflow.Await(ctx, ctx.ShouldContinue); err != nil {
				return 0, err
			}
			return 0, workflow.ContinueAsNew(ctx, counter, generation+1, nil)
		}, nil)
		run := runtimetest.Start(e, counter, 1, nil)
		for v := range 6 {
			runtimetest.Signal(e, run.ID(), number, v, nil)
		}
		if got := run.Must(); got != 3 {
			e.Errorf("ended in generation %d", got)
		}
	})
}
