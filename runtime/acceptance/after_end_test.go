package acceptance_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestTheClientOfANodeThatHasEnded: it hears of results as early as a client without a node: of a
// run that waited when the node ended, and of one that another node executes. Its polls are too far
// apart to find either.
func TestTheClientOfANodeThatHasEnded(t *testing.T) {
	c := clustertest.New(t)
	handle := func(n *runtime.Node) {
		runtime.Handle(n, waiting, func(ctx workflow.Context, _ int) (int, error) { return number.Receive(ctx) }, nil)
	}
	o := c.Options()
	o.Poll = time.Hour
	a := c.Run(o, handle)
	ctx := clustertest.Context(t)
	runs := startRuns(t, a.Client(), waiting, 0, 2)
	results := make(chan error, 2)
	await := func(run *runtime.Run[int]) {
		_, err := run.Result(ctx)
		results <- err
	}
	for _, run := range runs {
		clustertest.Parked(t, a.Client(), run.ID())
	}
	go await(runs[0]) // before the node ends, as a run of its own
	a.Stop()
	go await(runs[1]) // and after it
	b := c.Run(nil, handle)
	for _, run := range runs {
		if err := runtime.Signal(ctx, b.Client(), run.ID(), number, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range runs {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
