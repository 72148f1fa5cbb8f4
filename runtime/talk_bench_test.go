package runtime_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// benchNode runs a node on a store in memory: what is measured is the engine.
func benchNode(b *testing.B, store *memory.Store, register func(*runtime.Node)) *runtime.Node {
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	register(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	clustertest.Until(b, "the node has joined", func() bool { return n.ID() != 0 })
	return n
}

// BenchmarkQuery asks a parked run of 20,000 events: with a node that keeps what it has replayed,
// and with one that does not run.
func BenchmarkQuery(b *testing.B) {
	const events = 20_000
	store := memory.New(nil)
	b.Cleanup(store.Close)
	n := benchNode(b, store, handleMeter(new(atomic.Int32)))
	ctx := context.Background()
	run, err := runtime.Start(ctx, n.Client(), meter, 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	for range events {
		if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
	clustertest.Described(b, n.Client(), run.ID(), "all are consumed", func(d *runtime.Description) bool { return d.Events == events+1 })
	spare := runtime.NewNode(journal.New(store, nil), nil)
	handleMeter(new(atomic.Int32))(spare)
	for name, node := range map[string]*runtime.Node{"warm": n, "cold": spare} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := runtime.Query(ctx, node, run.ID(), read, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate calls one run again and again, each time after the answer to the call before.
func BenchmarkUpdate(b *testing.B) {
	store := memory.New(nil)
	b.Cleanup(store.Close)
	n := benchNode(b, store, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, sum int) (int, error) {
			count := 0
			bump.Handle(ctx, func(_ workflow.Context, v int) (int, error) { sum, count = sum+v, count+1; return sum, nil }, nil)
			if err := workflow.Await(ctx, func() bool { return count == 1000 }); err != nil {
				return sum, err
			}
			return 0, workflow.ContinueAsNew(ctx, meter, sum, nil)
		}, nil)
	})
	ctx := context.Background()
	run, err := runtime.Start(ctx, n.Client(), meter, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	want := 0
	for b.Loop() {
		want++
		if got, err := runtime.CallUpdate(ctx, n.Client(), run.ID(), bump, 1, nil); err != nil || got != want {
			b.Fatalf("got %d, %v, want %d", got, err, want)
		}
	}
}
