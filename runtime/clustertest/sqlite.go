package clustertest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
)

// SQLiteNode runs a node on a file of SQLite until the test ends, or until stop, which closes the
// file.
func SQLiteNode(t testing.TB, path string, log *Log, register func(n *runtime.Node)) (n *runtime.Node, stop func()) {
	t.Helper()
	store, err := sqlite.Open(Context(t), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	n = runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
	register(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("node ended with %v", err)
		}
		store.Close()
	})
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("log:\n%s", log)
		}
	})
	Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	return n, stop
}
