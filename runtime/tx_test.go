package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// A transactional step's own SQL is there exactly if its event is: failed attempts leave nothing.
func TestStepTx(t *testing.T) {
	c := clustertest.New(t)
	conn := c.Account()
	var attempts atomic.Int32
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx pgx.Tx) (string, error) {
				s, err := clustertest.Enter(ctx, tx)
				if err == nil && attempts.Add(1) < 3 {
					return "", errors.New("after the insert")
				}
				if attempts.Load() == 3 && tx.Commit(ctx) == nil {
					return "", errors.New("a step could commit the transaction itself")
				}
				return s, err
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 3}})
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), greet, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "entered" {
		t.Fatalf("got %q, %v", got, err)
	}
	if got := clustertest.Entries(t, conn); got != 1 {
		t.Errorf("%d entries, want 1", got)
	}
}

// Many transactions of one run end one after another; none is lost and no connection runs out.
func TestManyStepTxAtOnce(t *testing.T) {
	c := clustertest.New(t)
	conn := c.Account()
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, count, func(ctx workflow.Context, in int) (int, error) {
			var futures []workflow.Future[string]
			for range in {
				futures = append(futures, workflow.StepTxAsync(ctx, "enter", clustertest.Enter, nil))
			}
			for _, f := range futures {
				if _, err := f.Get(ctx); err != nil {
					return 0, err
				}
			}
			return in, nil
		}, nil)
	})
	ctx := clustertest.Context(t)
	var runs []*runtime.Run[int]
	for range 20 {
		run, err := runtime.Start(ctx, n.Client(), count, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for _, run := range runs {
		if _, err := run.Result(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := clustertest.Entries(t, conn); got != 200 {
		t.Errorf("%d entries, want 200", got)
	}
}

// The type of a step's transaction is checked when it runs, and the error names both.
func TestStepTxOfAnotherStore(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.StepTx(ctx, "enter", func(context.Context, *strings.Builder) (string, error) { return "", nil }, nil)
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), greet, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	f := clustertest.WantError[*runtime.FailedError](t, err)
	if !strings.Contains(f.Error(), "*strings.Builder") {
		t.Errorf("the error does not name the wanted type: %v", f)
	}
}
