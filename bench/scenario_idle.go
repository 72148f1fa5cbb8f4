package main

import (
	"context"

	"github.com/reprise-run/reprise/runtime"
)

var idleScenario = scenario{
	name: "idle", about: "nodes that have nothing to do: what they ask of Postgres",
	defaults: options{seconds: 10},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.idle(ctx, d) })
	},
}

func (b *bench) idle(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		if err := wait(ctx, b.o.duration()/10); err != nil { // what the warm-up set in motion comes to rest
			return err
		}
		m, err := d.measured(ctx, func() error { return wait(ctx, b.o.duration()) })
		if err != nil {
			return err
		}
		c, err := m.counters(ctx, nodes.close, 0, 0)
		if err != nil {
			return err
		}
		perSecond := 1 / (m.took.Seconds() * float64(b.o.nodes))
		f := figures{"wal_bytes_per_second": float64(c.WALBytes) * perSecond, "driver_cpu_share": c.DriverCPU * perSecond}
		if c.Statements != nil {
			f["statements_per_second"] = float64(*c.Statements) * perSecond
		}
		return b.emit(settings{"nodes": b.o.nodes}, f, c)
	})
}
