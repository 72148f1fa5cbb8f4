package runtime_test

import (
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// Workflow code that starts goroutines blocks its own run, with the line; the process, and the runs
// beside it, live.
func TestGoroutinesOfWorkflowCodeHurtNobodyElse(t *testing.T) {
	const fanOut, plain workflow.Name[int, int] = "fan-out", "plain"
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, fanOut, func(ctx workflow.Context, count int) (int, error) {
			var g errgroup.Group
			for range count {
				g.Go(func() error { return step(ctx, "beside") })
			}
			g.Go(func() error { ctx.Now(); return nil }) // it has no error to return
			return count, g.Wait()
		}, nil)
		runtime.Handle(n, plain, func(ctx workflow.Context, i int) (int, error) { return i, step(ctx, "work") }, nil)
	})
	for range 5 {
		wrong, err := runtime.Start(ctx, n.Client(), fanOut, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		good, err := runtime.Start(ctx, n.Client(), plain, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := good.Result(ctx); v != 7 || err != nil {
			t.Errorf("the run beside it: %d, %v", v, err)
		}
		clustertest.Until(t, "the run is blocked", func() bool {
			d, err := n.Client().Describe(ctx, wrong.ID())
			if err != nil || d.Run.Task == nil || d.Run.Task.State != journal.Blocked {
				return false
			}
			// Which of them was the first is the scheduler's: the clock is read here, and step is in
			// another file.
			problem := d.Run.Task.Problem
			return strings.Contains(problem, "workflow.") && (strings.Contains(problem, "goroutines_test.go:") || strings.Contains(problem, "blocked_test.go:"))
		})
	}
}
