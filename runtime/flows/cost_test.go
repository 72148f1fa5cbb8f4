package flows_test

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

// TestCostOfAMap: a map of 10,000 items costs at most 1.2 commits an item, also if every step ends
// by itself, and in chunks one for each chunk; a node that is skipped, or that only others wait for,
// costs none.
func TestCostOfAMap(t *testing.T) {
	passivate := os.Getenv("REPRISE_TEST_PASSIVATE") == "always"
	for _, tc := range []struct {
		name   string
		items  int
		o      flow.Options
		within float64 // commits an item
	}{
		{"one after the other", 1000, flow.Options{Window: 1}, 1.2},
		{"100 at once", 10_000, flow.Options{}, 1.2},
		{"in chunks", 10_000, flow.Options{Chunk: 100}, 0.012},
		{"with nodes that do nothing", 1000, flow.Options{Window: 1}, 1.2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if passivate && tc.o.Chunk == 0 {
				tc.items = 200 // the whole run is replayed after each commit
			}
			f := flow.New(order, nil)
			list := flow.Apply(f.Input(), func([]string) []int { return make([]int, tc.items) })
			each := flow.Map(f, "each", list, func(context.Context, int) (int, error) { return 1, nil }, &tc.o)
			if tc.name == "with nodes that do nothing" {
				never := []flow.Condition{flow.When(each, func([]int) bool { return false })}
				for i := range 500 {
					flow.Step(f, "skipped-"+string(rune('a'+i%26))+string(rune('a'+i/26)), f.Input(),
						func(context.Context, []string) (int, error) { return 0, nil }, &flow.Options{If: never})
				}
			}
			count := flow.Step(f, "count", flow.Apply(each, func(l []int) int { return len(l) }), func(_ context.Context, n int) (int, error) { return n, nil }, nil)

			var commits atomic.Int64
			store := memory.New(nil)
			defer store.Close()
			j := journal.New(store, &journal.Options{Observer: journal.Observer{Call: func(verb string, members, _ int, _ time.Duration, _ error) {
				if verb == "commit" {
					commits.Add(int64(members))
				}
			}}})
			n := runtime.NewNode(j, &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
			runtime.Handle(n, order, f.Build(), nil)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- n.Run(ctx) }()
			run, err := runtime.Start(ctx, n.Client(), order, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := run.Result(ctx)
			if got, _, failed := count.In(out); err != nil || failed != nil || got != tc.items {
				t.Errorf("the map came to %d items, %v, %v", got, err, failed)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			perItem := float64(commits.Load()) / float64(tc.items)
			t.Logf("%d commits for %d items: %.4f an item", commits.Load(), tc.items, perItem)
			if perItem > tc.within || commits.Load() == 0 {
				t.Errorf("%.3f commits an item, want at most %g", perItem, tc.within)
			}
		})
	}
}
