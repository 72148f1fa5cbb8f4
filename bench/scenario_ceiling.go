package main

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var ceilingScenario = scenario{
	name: "ceiling", about: "the rows and statements of chain in full batches, without the engine, and chain's share of that",
	defaults: options{seconds: 5, concurrency: saturated, steps: []int{1, 3, 10}},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		for _, n := range b.o.steps {
			err := b.inFresh(ctx, func(bare *database) error {
				return b.inFresh(ctx, func(engine *database) error { return b.ceilingOf(ctx, bare, engine, n) })
			})
			if err != nil {
				return err
			}
		}
		return nil
	},
}

const (
	pieceEvents = 150_000                // of a piece, about a second's work: all of its batches are in memory before it begins
	pieceLead   = 500 * time.Millisecond // of chain, before its piece begins
	pieceLeast  = 100 * time.Millisecond // of chain
)

// ceilingOf measures the ceiling and chain on two databases.
func (b *bench) ceilingOf(ctx context.Context, bare, engine *database, steps int) error {
	w, err := b.newWriter(ctx, bare, steps)
	if err != nil {
		return err
	}
	defer w.close(ctx)
	return b.withNodes(ctx, engine, runtime.NodeOptions{}, func(nodes *fleet) error {
		if err := w.write(ctx, nil, ceilingLanes*w.size); err != nil {
			return err
		}
		l := b.chainLoad(nodes, steps)
		if err := warmUp(ctx, l); err != nil {
			return err
		}
		before, f := nodes.batches(), figures{}
		own, chained, err := b.inTurns(ctx, w, l, bare, engine)
		if err != nil {
			return err
		}
		nodes.batches().since(before, f)
		c, err := own.counters(ctx, func() error { return w.close(ctx) }, own.runs, own.runs*steps)
		if err != nil {
			return err
		}
		chainCost, err := chained.counters(ctx, nodes.close, chained.runs, chained.runs*steps)
		if err != nil {
			return err
		}
		f = figures{"batch": float64(w.size), "chain_start_batch": f["start_batch"], "chain_commit_batch": f["commit_batch"]}
		compare(f, c, chainCost, own.runs, chained.runs)
		f["steps_per_second"] = f["runs_per_second"] * float64(steps)
		return b.emit(settings{"steps": steps, "concurrency": b.o.concurrency, "lanes": ceilingLanes}, f, c)
	})
}

// metered is a meter and the runs that it saw.
type metered struct {
	*meter
	runs int
}

// inTurns measures a piece of the ceiling, then one of chain that is as long, until both have had
// their time: whatever else the machine does, it does to both.
func (b *bench) inTurns(ctx context.Context, w *writer, l load, bare, engine *database) (own, chained metered, err error) {
	if own.meter, err = bare.meter(ctx); err != nil {
		return own, chained, err
	}
	if chained.meter, err = engine.meter(ctx); err != nil {
		return own, chained, err
	}
	piece := w.size * (int(pieceEvents*min(b.o.seconds, 1))/(w.steps+2)/w.size + 1)
	for own.took < b.o.duration() {
		before := own.took
		if err := w.write(ctx, own.meter, piece); err != nil {
			return own, chained, err
		}
		own.runs += piece
		n, err := l.within(ctx, chained.meter, pieceLead, max(own.took-before, pieceLeast))
		if err != nil {
			return own, chained, err
		}
		chained.runs += n
	}
	return own, chained, own.readStatements(ctx)
}

// compare puts rates and CPU of the ceiling and of chain into f.
func compare(f figures, own, chain *counters, runs, chainRuns int) {
	f["runs_per_second"], f["chain_runs_per_second"] = float64(runs)/own.Seconds, float64(chainRuns)/chain.Seconds
	f["chain_share"] = ratio(f["chain_runs_per_second"], f["runs_per_second"])
	f["chain_seconds"] = chain.Seconds
	if own.PerRun == nil || chain.PerRun == nil {
		return
	}
	f["driver_cpu_us_per_run"], f["chain_driver_cpu_us_per_run"] = own.PerRun.DriverCPU, chain.PerRun.DriverCPU
	f["wal_bytes_per_run"], f["chain_wal_bytes_per_run"] = own.PerRun.WALBytes, chain.PerRun.WALBytes
	if a, b := own.PerRun.PostgresCPU, chain.PerRun.PostgresCPU; a != nil && b != nil {
		f["postgres_cpu_us_per_run"], f["chain_postgres_cpu_us_per_run"] = *a, *b
		f["chain_cpu_share"] = ratio(*a+own.PerRun.DriverCPU, *b+chain.PerRun.DriverCPU)
	}
}
