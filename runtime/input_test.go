package runtime_test

import (
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestInput: the input of a run is there before a node has seen it, and after it has continued it
// is that of the generation.
func TestInput(t *testing.T) {
	c := clustertest.New(t)
	const name workflow.Name[int, int] = "counts down"
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(t.Context(), client, name, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if in, err := runtime.Input[int](t.Context(), client, run.ID()); in != 3 || err != nil {
		t.Errorf("the input is %d, %v", in, err)
	}
	if _, err := runtime.Input[map[string]int](t.Context(), client, run.ID()); err == nil {
		t.Error("a number is a map")
	}
	if _, err := runtime.Input[int](t.Context(), client, journal.NewRunID()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the input of no run: %v", err)
	}
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, name, func(ctx workflow.Context, in int) (int, error) {
			if in > 0 {
				return 0, workflow.ContinueAsNew(ctx, name, in-1, nil)
			}
			return in, nil
		}, nil)
	})
	if _, err := run.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	if in, err := runtime.Input[int](t.Context(), client, run.ID()); in != 0 || err != nil {
		t.Errorf("the input of the last generation is %d, %v", in, err)
	}
}
