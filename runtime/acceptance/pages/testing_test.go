package pages_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// save writes the history of a run of production to a file, for replaytest.Golden.
func save(ctx context.Context, client *runtime.Client, id journal.RunID, file string) error {
	run, err := client.Describe(ctx, id)
	if err != nil {
		return err
	}
	events, err := client.History(ctx, id)
	if err != nil {
		return err
	}
	return replaytest.WriteFile(file, replaytest.Of(run.Run, events))
}

// TestSave: the history of a run is replayed by the code that it comes from, and by no other.
func TestSave(t *testing.T) {
	node := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	asks := func(step string) func(workflow.Context, string) (int, error) {
		return func(ctx workflow.Context, in string) (int, error) {
			return workflow.Step(ctx, step, func(context.Context) (int, error) { return len(in), nil }, nil)
		}
	}
	runtime.Handle(node, charge, asks("count"), nil)
	serve(t, node)
	run, err := runtime.Start(t.Context(), node.Client(), charge, "four", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "histories", "four.json")
	if err := save(t.Context(), node.Client(), run.ID(), file); err != nil {
		t.Fatal(err)
	}
	h, err := replaytest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for step, fits := range map[string]bool{"count": true, "weigh": false} {
		var code replaytest.Registry
		replaytest.Handle(&code, charge, asks(step), nil)
		if err := replaytest.Check(&code, h); (err == nil) != fits {
			t.Errorf("code that asks for %s: %v", step, err)
		}
	}
}
