package main

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairNodesScenario = scenario{
	name: "fair/nodes", about: "two nodes of ten slots; -runs runs of one slow step are started through one of them: who executes them",
	defaults: options{runs: 400, nodes: 2},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairNodes(ctx, d) })
	},
}

const (
	briefStep  = 200 * time.Millisecond
	briefSlots = 10
)

// fairNodes compares with the ideal, in which every slot of every node is taken until the end.
func (b *bench) fairNodes(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{StepsMax: briefSlots}, func(nodes *fleet) error {
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		var closed []int64
		for _, m := range nodes.members {
			closed = append(closed, m.tap.closes.Load())
		}
		began := time.Now()
		runs, err := startMany(ctx, nodes.client(0), crowdFlow, crowd{Steps: 1, Each: briefStep}, b.o.runs, nil)
		if err != nil {
			return err
		}
		if err := resultsOf(ctx, runs); err != nil {
			return err
		}
		took := time.Since(began)
		waves := (len(runs) + briefSlots*len(nodes.members) - 1) / (briefSlots * len(nodes.members))
		ideal := time.Duration(waves) * briefStep
		f := figures{"seconds": took.Seconds(), "ideal_seconds": ideal.Seconds(), "to_ideal": took.Seconds() / ideal.Seconds(), "least_share": 1}
		for i, m := range nodes.members {
			share := float64(m.tap.closes.Load()-closed[i]) / float64(len(runs))
			f["least_share"] = min(f["least_share"], share)
		}
		s := settings{"runs": len(runs), "nodes": len(nodes.members), "slots": briefSlots, "step_ms": milliseconds(briefStep)}
		return b.emit(s, f, nil, atMost("to_ideal", 1.15), atLeast("least_share", 0.9/float64(len(nodes.members))))
	})
}
