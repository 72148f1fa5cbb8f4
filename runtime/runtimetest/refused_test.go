package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	desk  workflow.Name[int, int]   = "desk"
	stamp workflow.Update[int, int] = "stamp"
	knock workflow.Signal[int]      = "knock"
)

// An update that comes with the start is refused at once, also by a run that begins with a step:
// its first turn needs no commit otherwise.
func TestRejectedByFirstTurn(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, desk, func(ctx workflow.Context, _ int) (int, error) {
			stamp.Handle(ctx, func(_ workflow.Context, v int) (int, error) { return v, nil },
				&workflow.UpdateOptions[int]{Validate: func(int) error { return errors.New("closed today") }})
			return workflow.Step(ctx, "long", func(context.Context) (int, error) {
				time.Sleep(time.Hour)
				return 7, nil
			}, nil)
		}, nil)
		ctx, began := context.Background(), time.Now()
		_, h, err := runtime.UpdateWithStart(ctx, e.Client(), desk, 1, stamp, 1, &runtime.StartOptions{Key: "desk"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Result(ctx); !errors.Is(err, runtime.ErrRejected) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the answer took %s", took)
		}
	})
}

// A signal to no run at all is refused like one to a run that does not exist.
func TestSendToNobody(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, desk, func(ctx workflow.Context, _ int) (int, error) {
			if err := knock.Send(ctx, workflow.RunID{}, 1); !errors.Is(err, workflow.ErrRunNotFound) {
				return 0, fmt.Errorf("send: %v", err)
			}
			if err := workflow.CancelRun(ctx, workflow.RunID{}, "x"); !errors.Is(err, workflow.ErrRunNotFound) {
				return 0, fmt.Errorf("cancel: %v", err)
			}
			return 1, nil
		}, nil)
		runtimetest.Start(e, desk, 1, nil).Must()
	})
}

// Keys of updates and of signals are apart: a webhook may use one id for both.
func TestKeyOfSignalAndUpdate(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, desk, func(ctx workflow.Context, _ int) (int, error) {
			stamp.Handle(ctx, func(_ workflow.Context, v int) (int, error) { return v + 1, nil }, nil)
			got, err := knock.Receive(ctx)
			if err != nil {
				return 0, err
			}
			more, err := knock.Receive(ctx)
			return 10*got + more, err
		}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		run := runtimetest.Start(e, desk, 1, nil)
		if err := runtime.Signal(ctx, e.Client(), run.ID(), knock, 4, &runtime.SignalOptions{Key: "a"}); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b"} {
			if got, err := runtime.CallUpdate(ctx, e.Client(), run.ID(), stamp, 1, &runtime.UpdateOptions{Key: key}); err != nil || got != 2 {
				t.Errorf("key %s: got %d, %v", key, got, err)
			}
		}
		if err := runtime.Signal(ctx, e.Client(), run.ID(), knock, 2, &runtime.SignalOptions{Key: "b"}); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if got, err := run.Run.Result(short); err != nil || got != 42 {
			t.Errorf("got %d, %v", got, err)
		}
	})
}

// A validator that ends its goroutine refuses its update, and the run goes on.
func TestValidatorEndsItsGoroutine(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, desk, func(ctx workflow.Context, _ int) (int, error) {
			stamp.Handle(ctx, func(_ workflow.Context, v int) (int, error) { return v, nil },
				&workflow.UpdateOptions[int]{Validate: func(int) error { goruntime.Goexit(); return nil }})
			return knock.Receive(ctx)
		}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		run := runtimetest.Start(e, desk, 1, nil)
		if _, err := runtime.CallUpdate(ctx, e.Client(), run.ID(), stamp, 1, nil); !errors.Is(err, runtime.ErrRejected) {
			t.Errorf("got %v", err)
		}
		if err := runtime.Signal(ctx, e.Client(), run.ID(), knock, 7, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := run.Run.Result(ctx); err != nil || got != 7 {
			t.Errorf("got %d, %v", got, err)
		}
	})
}
