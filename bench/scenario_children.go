package main

import (
	"context"

	"github.com/reprise-run/reprise/runtime"
)

var childrenScenario = scenario{
	name: "children", about: "Map over children of one step: parents of 10,000 one after the other, then parents of 100, 100 together",
	defaults: options{runs: 10},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		runs := max(b.o.runs, 1)
		for _, shape := range []struct{ runs, width, workers int }{
			{max(runs/2, 1), 1000 * runs, 1}, {50 * runs, 10 * runs, 10 * runs},
		} {
			err := b.inFresh(ctx, func(d *database) error { return b.children(ctx, d, shape.runs, shape.width, shape.workers) })
			if err != nil {
				return err
			}
		}
		return nil
	},
}

func (b *bench) children(ctx context.Context, d *database, runs, width, workers int) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		l := flowLoad(nodes, familyFlow, width, load{workers: workers, runs: runs})
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		got, m, err := d.under(ctx, l)
		if err != nil {
			return err
		}
		f := figures{"children_per_second": got.perSecond() * float64(width), "total_seconds": got.took.Seconds()}
		got.latencies.into(f, "start_to_result")
		c, err := m.counters(ctx, nodes.close, got.runs*(width+1), got.runs*width)
		if err != nil {
			return err
		}
		return b.emit(settings{"runs": runs, "width": width, "at_once": workers}, f, c)
	})
}
