package runtimetest_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestPublishedWhateverCrashes: what is read never goes back, and is the newest when the run rests,
// wherever a node dies.
func TestPublishedWhateverCrashes(t *testing.T) {
	const climb workflow.Name[int, int] = "climb"
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, climb, func(ctx workflow.Context, height int) (int, error) {
			for n := 0; n < 3; n++ {
				if n == 2 && height < 5 {
					return 0, workflow.ContinueAsNew(ctx, climb, height, nil)
				}
				height++
				workflow.Publish(ctx, "height", height)
				if err := workflow.Sleep(ctx, time.Minute); err != nil {
					return 0, err
				}
			}
			return height, nil
		}, nil)
		run := runtimetest.Start(e, climb, 0, nil)
		last := 0
		read := func() {
			got, err := runtime.Published[int](e.Context(), e.Client(), run.ID(), "height")
			if err != nil || got < last {
				e.Errorf("after %d: %d, %v", last, got, err)
			}
			last = got
		}
		for range 4 {
			e.Sleep(30 * time.Second)
			read()
			e.Sleep(30 * time.Second)
		}
		end := run.Must()
		if read(); last != end {
			e.Errorf("the run came to %d and shows %d", end, last)
		}
	})
}

// TestLabelsWhateverCrashes: listings find a run by the labels that it has set, and by no other,
// wherever a node dies; the code sees those of its start.
func TestLabelsWhateverCrashes(t *testing.T) {
	const climb workflow.Name[int, int] = "climb"
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, climb, func(ctx workflow.Context, height int) (int, error) {
			if seen := ctx.Info().Labels; len(seen) != 1 || seen["at"] != "start" {
				return 0, fmt.Errorf("the code sees %v", seen)
			}
			if height == 3 {
				workflow.RemoveLabels(ctx, "above")
				return height, nil
			}
			height++
			workflow.SetLabels(ctx, map[string]string{"at": fmt.Sprint(height), "above": fmt.Sprint(height - 1)})
			if err := workflow.Sleep(ctx, time.Minute); err != nil {
				return 0, err
			}
			return 0, workflow.ContinueAsNew(ctx, climb, height, nil)
		}, nil)
		run := runtimetest.Start(e, climb, 0, &runtime.StartOptions{Labels: map[string]string{"at": "start"}})
		found := func(want map[string]string) {
			page, err := e.Client().List(e.Context(), journal.ListFilter{Labels: want})
			if err != nil || len(page.Runs) != 1 || !maps.Equal(page.Runs[0].Labels, want) {
				e.Errorf("by labels %v: %+v, %v", want, page.Runs, err)
			}
		}
		for n := 1; n <= 3; n++ {
			e.Sleep(30 * time.Second)
			found(map[string]string{"at": fmt.Sprint(n), "above": fmt.Sprint(n - 1)})
			e.Sleep(30 * time.Second)
		}
		run.Must()
		found(map[string]string{"at": "3"})
	})
}
