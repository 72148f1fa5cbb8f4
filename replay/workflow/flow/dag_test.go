package flow_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestWideAndLong: flows of many nodes, in a row and side by side. Those of a thousand are in the
// simulator.
func TestWideAndLong(t *testing.T) {
	const n = 150
	runtimetest.Test(t, func(e *runtimetest.Env) {
		long, wide := flow.New[int]("long", nil), flow.New[int]("wide", nil)
		var last flow.Source[int] = long.Input()
		add := func(_ context.Context, i int) (int, error) { return i + 1, nil }
		var end *flow.Node[int]
		nodes := make([]*flow.Node[int], n)
		for i := range n {
			// The names' order is not the chain's.
			end = flow.Step(long, fmt.Sprintf("n%d", i*7919%n), last, add, nil)
			last = end
			nodes[i] = flow.Step(wide, fmt.Sprint("n", i), wide.Input(), add, nil)
		}
		all := flow.Step(wide, "all", flow.All(nodes...), func(_ context.Context, list []int) (int, error) { return len(list), nil }, nil)
		runtimetest.Handle(e, long.Name(), long.Build(), nil)
		runtimetest.Handle(e, wide.Name(), wide.Build(), nil)
		if got, _, err := end.In(runtimetest.Start(e, long.Name(), 0, nil).Must()); got != n || err != nil {
			e.Errorf("a chain of %d nodes comes to %d, %v", n, got, err)
		}
		if got, _, err := all.In(runtimetest.Start(e, wide.Name(), 0, nil).Must()); got != n || err != nil {
			e.Errorf("%d nodes side by side come to %d, %v", n, got, err)
		}
	})
}

// TestStateOfLongHistories: a history of many events, and many nodes that end in one.
func TestStateOfLongHistories(t *testing.T) {
	items := make([]int, 500)
	o := play(t, items, func(f *flow.Flow[[]int]) {
		m := flow.Map(f, "m", f.Input(), pass, nil)
		for i := range 500 {
			flow.Step(f, fmt.Sprint("n", i), m, give[[]int](0), ifs(never(m)))
		}
	})
	o.wants(t, "null")
	skipped := 0
	for _, n := range o.state.Nodes {
		if n.Status == flow.StatusSkipped {
			skipped++
		}
	}
	if skipped != 500 || o.nodes["m"].Steps != 500 {
		t.Errorf("%d nodes are skipped, %d items done", skipped, o.nodes["m"].Steps)
	}
}

// TestOneEdgeIsOne: a parent that is taken, looked at and waited for is one parent.
func TestOneEdgeIsOne(t *testing.T) {
	f := flow.New[int]("tested", nil)
	a := flow.Step(f, "a", f.Input(), pass, nil)
	flow.Step(f, "b", flow.All(a, a), give[[]int](1), ifs(flow.When(a, func(i int) bool { return i == 1 }))).After(a)
	if got := f.Shape().Nodes[1].After; !slices.Equal(got, []string{"a"}) {
		t.Errorf("b comes after %q", got)
	}
	o := playFlow(t, f, 1, nil, nil)
	o.wants(t, `{"b":1}`)
	o.stands(t, "b", "completed")
}

// TestOrderOfDeclarations: the order in which code declares nodes means nothing.
func TestOrderOfDeclarations(t *testing.T) {
	declare := func(names []string) *flow.Flow[int] {
		f := flow.New[int]("tested", nil)
		for _, n := range names {
			flow.Step(f, n, f.Input(), pass, nil)
		}
		return f
	}
	names := []string{"a", "b", "c", "d", "e"}
	want := declare(names).Shape().Hash()
	history := playFlow(t, declare(names), 1, nil, nil).history
	for seed := range int64(10) {
		shuffled := slices.Clone(names)
		rand.New(rand.NewSource(seed)).Shuffle(len(names), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		f := declare(shuffled)
		if f.Shape().Hash() != want {
			t.Errorf("declared as %v the shape is another one", shuffled)
		}
		if got := playFlow(t, f, 1, nil, nil).history; len(got) != len(history) || got[:40] != history[:40] {
			t.Errorf("declared as %v the history is\n%s\nwant\n%s", shuffled, got, history)
		}
	}
}
