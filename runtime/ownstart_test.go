package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestDeadlineOfAnOwnStart: a node that executes a run which it has started itself shows its code
// the same deadline as one that has read it: stores keep microseconds.
func TestDeadlineOfAnOwnStart(t *testing.T) {
	const timed workflow.Name[int, time.Time] = "timed"
	n := runtime.NewNode(journal.New(memory.New(nil), nil), nil)
	runtime.Handle(n, timed, func(ctx workflow.Context, _ int) (time.Time, error) { return ctx.Info().Deadline, nil }, nil)
	ctx, cancel := context.WithCancel(clustertest.Context(t))
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	for _, timeout := range []time.Duration{time.Hour + 1, 24*time.Hour + 999} {
		run, err := runtime.Start(ctx, n.Client(), timed, 0, &runtime.StartOptions{Timeout: timeout})
		live := clustertest.MustResult(t, clustertest.MustStart(t, run, err))
		d, err := n.Client().Describe(ctx, run.ID())
		if want := d.Run.StartAt.Add(d.Run.Timeout); err != nil || !live.Equal(want) {
			t.Errorf("the code saw %s, the store has %s, %v", live, want, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPriorityOfAnOwnStart: a run whose start names no priority has the default one, also on the
// node that has started it. It is not ahead of runs that are urgent.
func TestPriorityOfAnOwnStart(t *testing.T) {
	synctest.Test(t, priorityOfAnOwnStart)
}

func priorityOfAnOwnStart(t *testing.T) {
	const queued workflow.Name[string, string] = "queued"
	gate, first := make(chan struct{}), ""
	n := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{StepsMax: 2})
	runtime.Handle(n, queued, func(ctx workflow.Context, who string) (string, error) {
		done := false
		workflow.Go(ctx, func(ctx workflow.Context) {
			_, _ = approved.Receive(ctx)
			_ = workflow.Do(ctx, who, func(context.Context) error {
				if first == "" {
					first = who
				}
				return nil
			}, nil)
			done = true
		})
		err := workflow.Do(ctx, "hold", func(context.Context) error { <-gate; return nil }, nil)
		return who, errors.Join(err, workflow.Await(ctx, func() bool { return done }))
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	synctest.Wait() // it has joined
	var runs []*runtime.Run[string]
	for _, priority := range []int16{0, 1} {
		run, err := runtime.Start(ctx, n.Client(), queued, fmt.Sprint("priority ", priority), &runtime.StartOptions{Priority: priority})
		runs = append(runs, clustertest.MustStart(t, run, err))
		synctest.Wait() // its first step has a slot
	}
	for _, run := range runs {
		if err := runtime.Signal(ctx, n.Client(), run.ID(), approved, "", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // its second step waits for one
	}
	gate <- struct{}{}
	synctest.Wait()
	if first != "priority 1" {
		t.Errorf("the run of %s has the first slot", first)
	}
	close(gate)
	for _, run := range runs {
		if _, err := run.Result(ctx); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
