package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairRenewalsScenario = scenario{
	name: "fair/renewals", about: "-nodes nodes that have nothing to do: what their renewals, questions and looks cost the server",
	defaults: options{seconds: 20, nodes: 200},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		for _, n := range []int{1, b.o.nodes} {
			if err := b.inFresh(ctx, func(d *database) error { return b.fairRenewals(ctx, d, n) }); err != nil {
				return err
			}
		}
		return nil
	},
}

const poolSizeLeast = 4 // the least that a store takes

// fairRenewals runs real nodes, each with its own sessions, in this process. Claims are in what the
// server does, but a node that has nothing to do looks at its queue by its renewals. One node alone
// is the baseline: nobody judges it, so it asks nothing.
func (b *bench) fairRenewals(ctx context.Context, d *database, n int) error {
	few, some, warned := *d, *b, &counted{}
	few.options.PoolSize, some.o.nodes = poolSizeLeast, n
	o := runtime.NodeOptions{Drain: time.Millisecond, Logger: slog.New(slog.NewTextHandler(warned, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	return some.withNodes(ctx, &few, o, func(nodes *fleet) error {
		if err := wait(ctx, b.o.duration()/2); err != nil { // all have joined, and know each other
			return err
		}
		sessions, err := d.count(ctx, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reprise'`)
		if err != nil {
			return err
		}
		before := warned.lines.Load()
		m, err := d.measured(ctx, func() error { return wait(ctx, b.o.duration()) })
		if err != nil {
			return err
		}
		lines := warned.lines.Load() - before
		c, err := m.counters(ctx, nodes.close, 0, 0)
		if err != nil {
			return err
		}
		f := figures{"sessions": float64(sessions), "warnings": float64(lines), "wal_bytes_per_second": float64(c.WALBytes) / c.Seconds}
		if c.Statements != nil {
			f["statements_per_second"] = float64(*c.Statements) / c.Seconds
		}
		var targets []target
		if c.PostgresCPU != nil {
			f["server_cores"], targets = *c.PostgresCPU/c.Seconds, []target{atMost("server_cores", 0.05)}
		}
		return b.emit(settings{"nodes": n}, f, c, targets...)
	})
}

// counted is a log that counts its lines. On a machine that is too slow for so many nodes these
// lose contact, and warn of it: such a result says little.
type counted struct{ lines atomic.Int64 }

// Write implements io.Writer.
func (c *counted) Write(line []byte) (int, error) {
	c.lines.Add(1)
	return len(line), nil
}
