package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// onePerPage is a store whose pages have one event and one message.
type onePerPage struct {
	driver.Store
	before func(q driver.LoadRequest) // is called before each load
	loads  int
}

func (s *onePerPage) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	for i := range requests {
		s.before(requests[i])
		requests[i].Bytes = 1
	}
	s.loads += len(requests)
	return s.Store.Load(ctx, requests)
}

// Readers put the pages of a long history together, and begin again if the run continues as new
// between two of them.
func TestReadersOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const signals, inGeneration = 16, 10
		db := memory.New(nil)
		defer db.Close()
		ctx, stop := context.WithCancel(t.Context())
		var begun atomic.Int32
		register := func(n *runtime.Node) { handleTome(n); handleMeter(&begun)(n) }
		node, ended := runtime.NewNode(journal.New(db.Peer(), quiet()), nil), make(chan error)
		register(node)
		go func() { ended <- node.Run(ctx) }()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		var sum int
		send := func(run journal.RunID, n int) {
			t.Helper()
			for range n {
				sum++
				must(runtime.Signal(t.Context(), node.Client(), run, number, sum, nil))
			}
			synctest.Wait()
		}
		store := &onePerPage{Store: db.Peer(), before: func(driver.LoadRequest) {}}
		reader := runtime.NewNode(journal.New(store, quiet()), nil)
		register(reader)

		run, err := runtime.Start(t.Context(), node.Client(), tome, sheet{Want: 100, Got: make([]int, 1)}, nil)
		must(err)
		send(run.ID(), inGeneration-1)
		compare := func(what string, events int) {
			t.Helper()
			want, err := node.Client().History(t.Context(), run.ID())
			must(err)
			got, err := reader.Client().History(t.Context(), run.ID())
			must(err)
			if diff := cmp.Diff(want, got); diff != "" || len(got) != events {
				t.Errorf("%s: %d events, want %d: %s", what, len(got), events, diff)
			}
			told, err := node.Client().Describe(t.Context(), run.ID())
			must(err)
			cut, err := reader.Client().Describe(t.Context(), run.ID())
			must(err)
			if diff := cmp.Diff(told, cut); diff != "" || cut.Events != events {
				t.Errorf("%s: %d events described, want %d: %s", what, cut.Events, events, diff)
			}
		}
		compare("one generation", inGeneration)
		store.before = func(q driver.LoadRequest) {
			if q.AfterSeq == 4 {
				store.before = func(driver.LoadRequest) {}
				send(run.ID(), signals-inGeneration+1)
			}
		}
		events, err := reader.Client().History(t.Context(), run.ID())
		must(err)
		want, err := node.Client().History(t.Context(), run.ID())
		must(err)
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("the run has continued as new between two pages: %s", diff)
		}
		compare("the next generation", signals-inGeneration+1)

		askPages(t, node, reader, store)
		stop()
		must(<-ended)
	})
}

// askPages asks a run whose history is long, and grows between two pages.
func askPages(t *testing.T, node, reader *runtime.Node, store *onePerPage) {
	t.Helper()
	run, err := runtime.Start(t.Context(), node.Client(), meter, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(n int) {
		for range n {
			if err := runtime.Signal(t.Context(), node.Client(), run.ID(), number, 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
	}
	add(5)
	store.loads = 0
	store.before = func(q driver.LoadRequest) {
		if q.AfterSeq == 3 {
			store.before = func(driver.LoadRequest) {}
			add(2)
		}
	}
	sum, err := runtime.Query(t.Context(), reader, run.ID(), read, 0)
	if err != nil || sum != 7 || store.loads < 8 {
		t.Errorf("the answer after %d loads is %d, %v", store.loads, sum, err)
	}
}
