package acceptance_test

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Workflows and messages of more than one test.
const (
	greet    workflow.Name[string, string]        = "greet"
	count    workflow.Name[int, int]              = "count"
	count3   workflow.Name[int, int]              = "three steps"
	collect  workflow.Name[int, []int]            = "collect"
	waiter   workflow.Name[string, string]        = "waiter"
	sleeper  workflow.Name[time.Duration, string] = "sleeper"
	number   workflow.Signal[int]                 = "number"
	approved workflow.Signal[string]              = "approved"
	broken   workflow.Query[int, int]             = "broken"
	writes   workflow.Query[int, int]             = "writes"
	bump     workflow.Update[int, int]            = "bump"
	refuse   workflow.Update[int, int]            = "refuse"
)

// step is a step that does nothing.
func step(ctx workflow.Context, name string) error {
	_, err := workflow.Step(ctx, name, func(context.Context) (int, error) { return 0, nil }, nil)
	return err
}

func threeSteps(ctx workflow.Context, in int) (int, error) {
	for _, name := range []string{"one", "two", "three"} {
		if err := step(ctx, name); err != nil {
			return 0, err
		}
	}
	return in, nil
}

func handleEcho(n *runtime.Node) {
	runtime.Handle(n, greet, func(_ workflow.Context, in string) (string, error) { return in, nil }, nil)
}

// handleCollect registers a workflow that receives n numbers and returns them in order.
func handleCollect(n *runtime.Node) {
	runtime.Handle(n, collect, func(ctx workflow.Context, n int) ([]int, error) {
		var got []int
		for len(got) < n {
			v, err := number.Receive(ctx)
			if err != nil {
				return nil, err
			}
			got = append(got, v)
		}
		return got, nil
	}, nil)
}

// wants returns an error unless a run completes with this.
func wants(ctx context.Context, run *runtime.Run[int], want int) error {
	got, err := run.Result(ctx)
	if err == nil && got != want {
		err = fmt.Errorf("got %d, want %d", got, want)
	}
	return err
}
