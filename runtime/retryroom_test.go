package runtime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// A run with more steps in retry than the journal keeps attempts of is not blocked, and a line says
// that its other steps wait.
func TestMoreStepsInRetryThanTheJournalKeeps(t *testing.T) {
	const more = 20
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, count, func(ctx workflow.Context, _ int) (int, error) {
			for range journal.AttemptsMax + more {
				workflow.StepAsync(ctx, "call", func(context.Context) (int, error) { return 0, errors.New("down") },
					&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour}})
			}
			return number.Receive(ctx)
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), count, 0, nil)
	run = clustertest.MustStart(t, run, err)
	wantLine(t, c, "too many steps of a run are in retry; its other steps begin when some of these have ended", run.ID().String(), "waiting=20")
	d := clustertest.Parked(t, n.Client(), run.ID())
	if got := len(d.Run.Task.Attempts); got != journal.AttemptsMax {
		t.Errorf("%d attempts are kept, want %d", got, journal.AttemptsMax)
	}
	if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 3, nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != 3 {
		t.Errorf("got %d", got)
	}
}
