package runtime_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestSQLiteFamiliesUpdatesAndQueries: children, updates over generations, queries and starts with
// messages work on a file, and outlive the process.
func TestSQLiteFamiliesUpdatesAndQueries(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "reprise.db"), clustertest.Context(t)
	register := func(n *runtime.Node) {
		handleClan(n)
		handleTill(n)
	}
	n, stop := clustertest.SQLiteNode(t, path, &clustertest.Log{}, register)
	started, err := runtime.Start(ctx, n.Client(), clan, -20, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, started, err)); got != 100 {
		t.Errorf("the family has %d", got)
	}
	key, id := &runtime.StartOptions{Key: "till"}, journal.RunID{}
	for i := range 7 {
		run, h, err := runtime.UpdateWithStart(ctx, n.Client(), till, 100, pay, 1, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Result(ctx); err != nil || got != 101+i || run.Created() != (i == 0) {
			t.Errorf("update %d: %d, %v, created %v", i, got, err, run.Created())
		}
		id = run.ID()
	}
	if got := ask(t, n, id, read, 0); got != 107 {
		t.Errorf("the query says %d", got)
	}
	stop()
	n, _ = clustertest.SQLiteNode(t, path, &clustertest.Log{}, register)
	if got := ask(t, n, id, read, 0); got != 107 {
		t.Errorf("the query says %d", got)
	}
	if _, err := runtime.CallUpdate(ctx, n.Client(), id, pay, -1, nil); !errors.Is(err, runtime.ErrRejected) {
		t.Errorf("got %v", err)
	}
	if _, err := runtime.SignalWithStart(ctx, n.Client(), till, 0, shut, 1, key, nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, runtime.RunOf(n.Client(), till, id)); got != 107 {
		t.Errorf("got %d", got)
	}
	d, err := n.Client().Describe(ctx, id)
	if err != nil || d.Run.Generation != 3 || d.Run.Status != journal.Completed {
		t.Errorf("generation %d, %s, %v", d.Run.Generation, d.Run.Status, err)
	}
}
