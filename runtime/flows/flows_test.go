package flows_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/flows"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const order workflow.Name[[]string, flow.Results] = "order"

const paid workflow.Signal[int] = "paid"

// declare is an order that waits for a signal between two nodes; more adds to it.
func declare(more func(f *flow.Flow[[]string], last *flow.Node[string])) *flow.Flow[[]string] {
	f := flow.New(order, nil)
	pack := flow.Map(f, "pack", f.Input(), func(_ context.Context, s string) (string, error) { return "parcel of " + s, nil }, nil)
	wait := flow.Wait(f, "paid", paid, nil)
	ship := flow.Step(f, "ship", flow.Join(pack, wait, func(list []string, cents int) string {
		return fmt.Sprintf("%s for %d", strings.Join(list, ", "), cents)
	}), func(_ context.Context, s string) (string, error) { return s, nil }, nil)
	if more != nil {
		more(f, ship)
	}
	return f
}

// serve runs a node with a flow until stop.
func serve(t *testing.T, store driver.Store, register func(n *runtime.Node)) (c *runtime.Client, stop func()) {
	t.Helper()
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	register(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return n.Client(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// onEach runs a test on each store.
func onEach(t *testing.T, fn func(t *testing.T, store driver.Store)) {
	t.Run("memory", func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		fn(t, store)
	})
	t.Run("sqlite", func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		fn(t, store)
	})
	t.Run("postgres", func(t *testing.T) {
		store, err := postgres.Open(t.Context(), pgtest.New(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		fn(t, store)
	})
}

// TestShapesAreKeptOnce: a run is drawn by whoever has the store, also with code that has changed
// or is gone, and there is one run for each shape.
func TestShapesAreKeptOnce(t *testing.T) {
	onEach(t, func(t *testing.T, store driver.Store) {
		old := declare(nil)
		c, stop := serve(t, store, func(n *runtime.Node) { flows.Handle(n, old, nil) })
		ids := make([]journal.RunID, 5)
		for i := range ids {
			run, err := flows.Start(t.Context(), c, old, []string{"tea", "cups"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = run.ID()
		}
		other := runtime.NewClient(journal.New(store, nil), nil) // knows nothing of the other one's
		if _, err := flows.Start(t.Context(), other, old, []string{}, nil); err != nil {
			t.Fatal(err)
		}
		kept, err := runtime.RunOf(c, workflow.Name[flow.Shape, flow.Shape](flows.WorkflowPrefix+"order"), keeper(t, c, old.Shape().Hash())).Result(t.Context())
		if err != nil || kept.Hash() != old.Shape().Hash() {
			t.Fatalf("what is kept is %+v, %v", kept, err)
		}
		for _, id := range ids[1:] {
			if err := runtime.Signal(t.Context(), c, id, paid, 1290, nil); err != nil {
				t.Fatal(err)
			}
			out, err := runtime.RunOf(c, order, id).Result(t.Context())
			if err != nil || string(out["ship"]) != `"parcel of tea, parcel of cups for 1290"` {
				t.Fatalf("a run came to %s, %v", out, err)
			}
		}
		clustertest.Until(t, "the first node of the run that waits has ended", func() bool {
			events, err := c.History(t.Context(), ids[0])
			_, ended := flow.ShapeOf(events)
			return err == nil && ended
		})
		stop()

		// The code has changed, and none is there.
		page, err := other.List(t.Context(), journal.ListFilter{KeyPrefix: flows.KeyPrefix})
		if err != nil || len(page.Runs) != 1 {
			t.Fatalf("%d runs keep the shape, want 1: %v", len(page.Runs), err)
		}
		now := declare(func(f *flow.Flow[[]string], last *flow.Node[string]) {
			flow.Step(f, "tell", last, func(_ context.Context, s string) (string, error) { return s, nil }, nil)
		}).Shape()
		for _, shape := range []*flow.Shape{nil, old.Shape(), now} {
			st, err := flows.State(t.Context(), other, ids[1], shape)
			if err != nil || st.Hash != old.Shape().Hash() || st.Run != "completed" || st.Nodes[2].Status != flow.StatusCompleted {
				t.Errorf("the state of a run that has ended is %+v, %v", st, err)
			}
			if st, err = flows.State(t.Context(), other, ids[0], shape); err != nil || st.Run != "open" || st.Nodes[1].Status != flow.StatusRunning {
				t.Errorf("the state of a run that waits is %+v, %v", st, err)
			}
		}
		if s, err := flows.Newest(t.Context(), other, "order"); err != nil || s.Hash() != old.Shape().Hash() {
			t.Errorf("the newest shape is %+v, %v", s, err)
		}
		for _, err := range []error{second(flows.Newest(t.Context(), other, "nobody's")), second(flows.Shape(t.Context(), other, "0123"))} {
			if !errors.Is(err, flows.ErrNoShape) {
				t.Errorf("a shape that is not there: %v", err)
			}
		}
		if _, err := flows.State(t.Context(), other, journal.NewRunID(), now); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("the state of no run: %v", err)
		}
	})
}

func keeper(t *testing.T, c *runtime.Client, hash string) journal.RunID {
	t.Helper()
	id, err := c.FindKey(t.Context(), flows.KeyPrefix+hash)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func second[T any](_ T, err error) error { return err }

// TestRefusedInput: nothing is stored if the run could not begin.
func TestRefusedInput(t *testing.T) {
	store := memory.New(nil)
	defer store.Close()
	c := runtime.NewClient(journal.New(store, nil), nil)
	_, err := flows.Start(t.Context(), c, declare(nil), nil, nil)
	mistyped := new(flow.TypeError)
	if !errors.As(err, &mistyped) || !strings.Contains(err.Error(), "start flow order: node pack: the input gave null instead of a list") {
		t.Errorf("an input without a list: %v", err)
	}
	if page, err := c.List(t.Context(), journal.ListFilter{}); err != nil || len(page.Runs) != 0 {
		t.Errorf("there are %d runs, %v", len(page.Runs), err)
	}
}

// TestRunsOfAnotherStart: a run that was started without this package is drawn by its flow's name
// until a node has ended, or by the program's shape.
func TestRunsOfAnotherStart(t *testing.T) {
	store := memory.New(nil)
	defer store.Close()
	f := declare(nil)
	c, stop := serve(t, store, func(n *runtime.Node) { flows.Handle(n, f, &runtime.HandleOptions{Version: 2, Queue: "q"}) })
	defer stop()
	run, err := runtime.Start(t.Context(), c, order, []string{}, &runtime.StartOptions{Version: 2, Queue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flows.State(t.Context(), c, run.ID(), nil); !errors.Is(err, flows.ErrNoShape) {
		t.Errorf("a run whose shape nobody has: %v", err)
	}
	if st, err := flows.State(t.Context(), c, run.ID(), f.Shape()); err != nil || st.Hash != f.Shape().Hash() {
		t.Errorf("the program's shape: %+v, %v", st, err)
	}
	if err := flows.Store(t.Context(), c, f.Shape(), &runtime.StartOptions{Version: 2, Queue: "q"}); err != nil {
		t.Fatal(err)
	}
	name := workflow.Name[flow.Shape, flow.Shape](flows.WorkflowPrefix + "order")
	if _, err := runtime.RunOf(c, name, keeper(t, c, f.Shape().Hash())).Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := flows.State(t.Context(), c, run.ID(), nil); err != nil || st.Hash != f.Shape().Hash() {
		t.Errorf("the stored shape: %+v, %v", st, err)
	}
}

// TestStateAfterRetry: a run that was retried goes on from before the node that failed, and its
// state is that of the generation that goes on.
func TestStateAfterRetry(t *testing.T) {
	store := memory.New(nil)
	defer store.Close()
	var broken atomic.Bool
	broken.Store(true)
	f := declare(func(f *flow.Flow[[]string], last *flow.Node[string]) {
		flow.Step(f, "tell", last, func(_ context.Context, s string) (string, error) {
			if broken.Load() {
				return "", workflow.Permanent(errors.New("nobody listens"))
			}
			return s, nil
		}, nil)
	})
	c, stop := serve(t, store, func(n *runtime.Node) { flows.Handle(n, f, nil) })
	defer stop()
	run, err := flows.Start(t.Context(), c, f, []string{"tea"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.Signal(t.Context(), c, run.ID(), paid, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(t.Context()); err == nil {
		t.Fatal("the run did not fail")
	}
	wants := func(status flow.Status, ended string) {
		t.Helper()
		st, err := flows.State(t.Context(), c, run.ID(), nil)
		if err != nil || st.Run != ended || st.Nodes[3].Name != "tell" || st.Nodes[3].Status != status || st.Nodes[2].Status != flow.StatusCompleted {
			t.Errorf("the state is %+v, %v", st, err)
		}
	}
	wants(flow.StatusFailed, "failed")
	broken.Store(false)
	if _, err := c.Retry(t.Context(), run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	other := runtime.NewClient(journal.New(store, nil), nil)
	if _, err := runtime.RunOf(other, order, run.ID()).Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	wants(flow.StatusCompleted, "completed")
}
