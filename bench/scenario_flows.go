package main

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

var flowsScenario = scenario{
	name: "flows", about: "declared flows: a map over 10,000 items, each a step, then in chunks of 100; layers of 100 nodes that take three each, 1,000 in all",
	defaults: options{runs: 10},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		items, layers := 1000*b.o.runs, b.o.runs
		for _, shape := range []struct {
			name  string
			flow  *flow.Flow[int]
			nodes int
		}{
			{"map", mapFlow(items, 1), items},
			{"map in chunks", mapFlow(items, 100), items},
			{"layers", layersFlow(layers, 100), 100 * layers},
		} {
			err := b.inFresh(ctx, func(d *database) error { return measureFlow(ctx, b, d, shape.name, shape.flow, shape.nodes) })
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// commitsPerNodeMax is the target for maps: one commit for each step would be 1.
const commitsPerNodeMax = 1.2

const declaredFlow workflow.Name[int, flow.Results] = "declared"

// mapFlow is a map over items.
func mapFlow(items, chunk int) *flow.Flow[int] {
	f := flow.New(declaredFlow, nil)
	list := flow.Apply(f.Input(), func(int) []int { return make([]int, items) })
	each := flow.Map(f, "each", list, func(context.Context, int) (int, error) { return 1, nil }, &flow.Options{Chunk: chunk})
	flow.Step(f, "count", flow.Apply(each, func(l []int) int { return len(l) }), func(_ context.Context, n int) (int, error) { return n, nil }, nil)
	return f
}

// layersFlow is layers of nodes, each of which takes three of the layer before.
func layersFlow(layers, width int) *flow.Flow[int] {
	f := flow.New(declaredFlow, nil)
	var before []*flow.Node[int]
	for l := range layers {
		layer := make([]*flow.Node[int], width)
		for i := range layer {
			from := f.Input()
			if l > 0 {
				from = flow.Apply(flow.All(before[i], before[(i+1)%width], before[(i+7)%width]), func(l []int) int { return l[0] + l[1] - l[2] })
			}
			layer[i] = flow.Step(f, fmt.Sprintf("n%d-%d", l, i), from, func(_ context.Context, v int) (int, error) { return v, nil }, nil)
		}
		before = layer
	}
	return f
}

// measureFlow measures runs of a flow of so many nodes.
func measureFlow(ctx context.Context, b *bench, d *database, name string, f *flow.Flow[int], nodes int) error {
	register := func(n *runtime.Node) { runtime.Handle(n, declaredFlow, f.Build(), nil) }
	return withNodesThat(ctx, b, d, register, func(fleet *fleet) error {
		const runs = 3
		if err := warmUp(ctx, flowLoad(fleet, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		before := fleet.batches()
		got, m, err := d.under(ctx, flowLoad(fleet, declaredFlow, 1, load{workers: 1, runs: runs}))
		if err != nil {
			return err
		}
		commits := float64(fleet.batches().commits - before.commits)
		figures := figures{
			"nodes_per_second": got.perSecond() * float64(nodes), "commits_per_node": commits / float64(runs*nodes), "total_seconds": got.took.Seconds(),
		}
		got.latencies.into(figures, "start_to_result")
		c, err := m.counters(ctx, fleet.close, got.runs, got.runs*nodes)
		if err != nil {
			return err
		}
		return b.emit(settings{"shape": name, "nodes": nodes, "runs": runs}, figures, c, atMost("commits_per_node", commitsPerNodeMax))
	})
}
