package runtimetest_test

import (
	"testing"
	"time"

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
