package main

import (
	"context"
	goruntime "runtime"
	"runtime/debug"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var parkedScenario = scenario{
	name: "parked", about: "sleeping runs: time to create, bytes in the database, memory of the node, effect on chain",
	defaults: options{runs: 1_000_000, concurrency: saturated, steps: []int{3}},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.parked(ctx, d) })
	},
}

const (
	parkedWarm  = 2 * time.Second // the node forgets parked runs after this, instead of a minute
	chainAround = 5 * time.Second // of chain before and after
	parkedSmall = 10_000          // with fewer runs, chain makes as many instead, and the node forgets sooner
)

func (b *bench) parked(ctx context.Context, d *database) error {
	around := *b
	around.o.runs, around.o.seconds = 0, chainAround.Seconds()
	if b.o.runs < parkedSmall {
		around.o.runs = max(b.o.runs, 1)
	}
	before, costBefore, err := around.chain(ctx, d, b.o.steps[0])
	if err != nil {
		return err
	}
	f, c, err := b.park(ctx, d, max(b.o.runs, 1))
	if err != nil {
		return err
	}
	after, costAfter, err := around.chain(ctx, d, b.o.steps[0])
	if err != nil {
		return err
	}
	const rate = "runs_per_second"
	f["chain_before_"+rate], f["chain_after_"+rate], f["chain_after_to_before"] = before[rate], after[rate], after[rate]/before[rate]
	if a, b := costAfter.PerRun, costBefore.PerRun; a.PostgresCPU != nil && b.PostgresCPU != nil {
		f["chain_postgres_cpu_after_to_before"] = ratio(*a.PostgresCPU, *b.PostgresCPU)
	}
	return b.emit(settings{"runs": b.o.runs, "chain_steps": b.o.steps[0], "nodes": b.o.nodes, "concurrency": b.o.concurrency}, f, c)
}

// park makes the sleeping runs, and looks at what they occupy.
func (b *bench) park(ctx context.Context, d *database, runs int) (f figures, c *counters, err error) {
	warm := parkedWarm
	if runs < parkedSmall {
		warm /= 20
	}
	err = b.withNodes(ctx, d, runtime.NodeOptions{WarmIdle: warm}, func(nodes *fleet) error {
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 100})); err != nil {
			return err
		}
		empty := holds()
		size, err := d.bytes(ctx)
		if err != nil {
			return err
		}
		m, err := d.measured(ctx, func() error {
			_, err := b.putToSleep(ctx, nodes, runs, time.Now().Add(24*time.Hour))
			return err
		})
		if err != nil {
			return err
		}
		f = figures{"created_per_second": float64(runs) / m.took.Seconds(), "create_seconds": m.took.Seconds()}
		empty.growth(f, "warm")
		if err := wait(ctx, 2*warm); err != nil {
			return err
		}
		empty.growth(f, "idle")
		full, err := d.bytes(ctx)
		if err != nil {
			return err
		}
		f["database_bytes_per_run"] = float64(full-size) / float64(runs)
		c, err = m.counters(ctx, nodes.close, runs, 0)
		return err
	})
	return f, c, err
}

// memory is what this process held at some time: live objects and stacks, and what the system says
// when all that is free was given back to it.
type memory struct{ heap, resident int64 }

func holds() memory {
	debug.FreeOSMemory() // twice: pools let go of what they hold at the second collection
	debug.FreeOSMemory()
	var s goruntime.MemStats
	goruntime.ReadMemStats(&s)
	return memory{int64(s.HeapAlloc + s.StackInuse), residentBytes()}
}

// growth puts what was added since into f.
func (m memory) growth(f figures, name string) {
	now := holds()
	f[name+"_heap_growth_mb"] = float64(now.heap-m.heap) / (1 << 20)
	f[name+"_resident_growth_mb"] = float64(now.resident-m.resident) / (1 << 20)
}
