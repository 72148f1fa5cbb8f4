package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The workflows of the fair scenarios: those who hinder others, and those who must not be hindered.
const (
	crowdFlow   workflow.Name[crowd, int]  = "crowd"   // steps of some time, all at once
	pingFlow    workflow.Name[int, int]    = "ping"    // a step that answers as echo's do
	bulkFlow    workflow.Name[int, int]    = "bulk"    // that number of steps whose results are large, then a signal
	failingFlow workflow.Name[int, int]    = "failing" // a step that fails and is tried again at once
	absentFlow  workflow.Name[string, int] = "absent"  // no node has it
)

// crowd is the input of a run of many steps.
type crowd struct {
	Steps int
	Each  time.Duration
}

const bulkBytes = 1 << 20 // of a result of bulk

func registerFair(n *runtime.Node) {
	runtime.Handle(n, crowdFlow, crowded, nil)
	runtime.Handle(n, pingFlow, ping, nil)
	runtime.Handle(n, bulkFlow, bulk, nil)
	runtime.Handle(n, failingFlow, failing, nil)
}

func crowded(ctx workflow.Context, c crowd) (int, error) {
	futures := make([]workflow.Future[int], c.Steps)
	for i := range futures {
		futures[i] = workflow.StepAsync(ctx, "step", func(ctx context.Context) (int, error) {
			if err := wait(ctx, c.Each); err != nil {
				return 0, context.Cause(ctx)
			}
			return 1, nil
		}, nil)
	}
	for _, f := range futures {
		if _, err := f.Get(ctx); err != nil {
			return 0, err
		}
	}
	return c.Steps, nil
}

func ping(ctx workflow.Context, who int) (int, error) {
	return workflow.Step(ctx, "step", func(context.Context) (int, error) {
		answer(who)
		return 1, nil
	}, nil)
}

func bulk(ctx workflow.Context, n int) (int, error) {
	for range n {
		_, err := workflow.Step(ctx, "step", func(context.Context) (string, error) { return strings.Repeat("x", bulkBytes), nil }, nil)
		if err != nil {
			return 0, err
		}
	}
	return item.Receive(ctx)
}

var errFailing = errors.New("as always")

func failing(ctx workflow.Context, _ int) (int, error) {
	return workflow.Step(ctx, "step", func(context.Context) (int, error) { return 0, errFailing },
		&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Microsecond, Max: time.Microsecond, Factor: 1, Jitter: -1}})
}

// asked is a question whose answer comes from a step: see echoes.
func asked(ctx context.Context, who int, ask func() error) error {
	answered := make(chan struct{}, 1)
	echoes.Store(who, answered)
	defer echoes.Delete(who)
	if err := ask(); err != nil {
		return err
	}
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
