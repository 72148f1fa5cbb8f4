package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	clan workflow.Name[int, int]    = "clan" // starts so many members and adds up what they return
	kin  workflow.Name[string, int] = "kin"  // waits for a signal, or returns its length at once if it is "quick"
)

func handleClan(n *runtime.Node) {
	runtime.Handle(n, clan, func(ctx workflow.Context, n int) (int, error) {
		name := "patient"
		if n < 0 {
			n, name = -n, "quick"
		}
		all, err := workflow.Map(ctx, make([]int, n), func(ctx workflow.Context, _ int) (int, error) {
			return workflow.Call(ctx, kin, name, nil)
		}, nil)
		sum := 0
		for _, v := range all {
			sum += v
		}
		return sum, err
	}, nil)
	runtime.Handle(n, kin, func(ctx workflow.Context, name string) (int, error) {
		if err := step(ctx, "born"); err != nil {
			return 0, err
		}
		if name == "quick" {
			return len(name), nil
		}
		return number.Receive(ctx)
	}, nil)
}

// children waits until n children of a run are parked, and returns them.
func children(t testing.TB, client *runtime.Client, parent journal.RunID, n int) (list []journal.Run) {
	t.Helper()
	clustertest.Until(t, fmt.Sprint(n, " children are parked"), func() bool {
		page, err := client.List(clustertest.Context(t), journal.ListFilter{Parent: parent, Limit: journal.ListMax})
		list = page.Runs
		return err == nil && len(list) == n && !slices.ContainsFunc(list, func(r journal.Run) bool {
			return r.Task == nil || r.Task.Owner != 0 || len(r.Task.Waiting) == 0
		})
	})
	return list
}

// Children that their parent's node can execute are owned by it since their start: nobody has to
// claim them.
func TestChildrenAreOwnedSinceTheirStart(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var claimed atomic.Int32
	j := c.Open(&journal.Options{Observer: journal.Observer{Call: func(verb string, members, _ int, _ time.Duration, _ error) {
		if verb == "claim" {
			claimed.Add(int32(members))
		}
	}}})
	n := c.RunOn(j, nil, handleClan)
	started, err := runtime.Start(ctx, n.Client(), clan, 50, nil)
	run := clustertest.MustStart(t, started, err)
	list := children(t, n.Client(), run.ID(), 50)
	if got := claimed.Load(); got != 0 {
		t.Errorf("%d runs were claimed", got)
	}
	d, err := n.Client().Describe(ctx, run.ID())
	if err != nil || len(d.Children) != 50 || d.Children[0].Run == nil || d.Children[0].Workflow != "kin" {
		t.Errorf("described as %+v, %v", d, err)
	}
	for i := range list {
		if p := list[i].Parent; p == nil || p.Run != run.ID() || p.Generation != 1 {
			t.Errorf("child %d has parent %+v", i, p)
		}
		if err := runtime.Signal(ctx, n.Client(), list[i].ID, number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := clustertest.MustResult(t, run); got != 49*50/2 {
		t.Errorf("got %d", got)
	}
}

// A node that has no room leaves children in the queue; all of them end.
func TestChildrenOfAFullNode(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.LiveMax = 4
	n := c.Run(o, handleClan)
	started, err := runtime.Start(ctx, n.Client(), clan, -100, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, started, err)); got != 500 {
		t.Errorf("got %d", got)
	}
}

// forgetful is a store that writes the first commit with children, but loses the answer.
type forgetful struct {
	*postgres.Store
	lost atomic.Bool
}

func (f *forgetful) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	out, err := f.Store.Commit(ctx, commits)
	starts := slices.ContainsFunc(commits, func(c driver.Commit) bool { return len(c.Starts) > 0 })
	if err == nil && starts && f.lost.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("the answer is lost: %w", journal.ErrUnavailable)
	}
	return out, err
}

// J4: the answer that says which children were started is lost. The node asks the store what it
// owns, and executes them.
func TestChildrenWhoseStartHasNoAnswer(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	store := &forgetful{Store: c.Store(c.DSN, nil)}
	n := c.RunOn(journal.New(store, nil), nil, handleClan)
	started, err := runtime.Start(ctx, n.Client(), clan, -20, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, started, err)); got != 100 {
		t.Errorf("got %d", got)
	}
	if !store.lost.Load() {
		t.Error("nothing was lost")
	}
}

// Nodes that drain and join while families grow leave no child behind.
func TestChildrenWhileNodesComeAndGo(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	last := c.Run(nil, handleClan)
	var runs []*runtime.Run[int]
	for range 4 {
		for range 5 {
			started, err := runtime.Start(ctx, last.Client(), clan, -10, nil)
			runs = append(runs, clustertest.MustStart(t, started, err))
		}
		fresh := c.Run(nil, handleClan)
		last.Stop()
		last = fresh
	}
	for _, run := range runs {
		if got, err := runtime.RunOf(client, clan, run.ID()).Result(ctx); err != nil || got != 50 {
			t.Errorf("got %d, %v", got, err)
		}
	}
}

// A family is one trace.
func TestChildrenContinueTheTrace(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	spans := tracetest.NewInMemoryExporter()
	o := c.Options()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	o.TracerProvider = tp
	n := c.Run(o, handleClan)
	outer, root := tp.Tracer("test").Start(ctx, "caller")
	started, err := runtime.Start(outer, n.Client(), clan, -3, nil)
	run := clustertest.MustStart(t, started, err)
	root.End()
	clustertest.MustResult(t, run)
	steps := 0
	for _, s := range spans.GetSpans() {
		if s.SpanContext.TraceID() != root.SpanContext().TraceID() {
			t.Errorf("span %s is of another trace", s.Name)
		}
		if s.Name == "reprise.step born" {
			steps++
		}
	}
	if steps != 3 {
		t.Errorf("%d steps of children are in the trace", steps)
	}
}

// The hint and the limit of a history's length are options of the node.
func TestHistoryHintAndMax(t *testing.T) {
	const loop workflow.Name[int, int] = "loop"
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.HistoryHint, o.HistoryMax = 20, 50
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, loop, func(ctx workflow.Context, left int) (int, error) {
			heed := left%2 == 0
			for ; left > 0; left -= 2 {
				if err := step(ctx, "turn"); err != nil {
					return 0, err
				}
				if heed && ctx.ShouldContinue() {
					return 0, workflow.ContinueAsNew(ctx, loop, left-2, nil)
				}
			}
			return int(ctx.Info().Generation), nil
		}, nil)
	})
	started, err := runtime.Start(ctx, n.Client(), loop, 200, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, started, err)); got != 6 {
		t.Errorf("ended in generation %d", got)
	}
	started, err = runtime.Start(ctx, n.Client(), loop, 201, nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, n.Client(), run.ID(), "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	if want := "the limit is 50: the workflow should continue as new in time"; !strings.Contains(d.Run.Task.Problem, want) || d.Events < 50 {
		t.Errorf("%d events, %q", d.Events, d.Run.Task.Problem)
	}
}
