package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/gather"
)

var gatherScenario = scenario{
	name: "gather", about: "inputs into batches of 100 by one collector, without tickets and with them, and as many plain signals into one run, in turns",
	defaults: options{runs: 10_000, concurrency: 64},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return gathered(ctx, b, d) })
	},
}

const gatherFlow workflow.Name[[]int, int] = "gathered"

// gatherSize is how many inputs a batch has.
const gatherSize = 100

// gathered measures each three times.
func gathered(ctx context.Context, b *bench, d *database) error {
	nodes, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{})
	if err != nil {
		return err
	}
	for _, m := range nodes.members {
		gather.Handle(m.node)
		runtime.Handle(m.node, gatherFlow, func(_ workflow.Context, in []int) (int, error) { return len(in), nil }, nil)
	}
	return nodes.while(ctx, func(nodes *fleet) error {
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		const turns = 3
		n := max(b.o.runs/turns, 1)
		rates, sent := map[string]float64{}, map[string]float64{}
		for turn := range turns {
			for _, kind := range floods {
				began := time.Now()
				l, err := kind.flood(ctx, b, nodes.client(0), turn, n)
				if err != nil {
					return fmt.Errorf("%s: %w", kind.name, err)
				}
				rates[kind.name] += float64(n) / time.Since(began).Seconds() / turns
				sent[kind.name] += l.perSecond() / turns
			}
		}
		f := figures{
			"signals_per_second": rates["signals"], "puts_per_second": rates["puts"], "adds_per_second": rates["adds"],
			"signals_sent_per_second": sent["signals"], "puts_sent_per_second": sent["puts"], "adds_sent_per_second": sent["adds"],
			"puts_to_signals": rates["puts"] / rates["signals"], "adds_to_signals": rates["adds"] / rates["signals"],
		}
		return b.emit(settings{"inputs": n, "batch": gatherSize, "concurrency": b.o.concurrency, "nodes": b.o.nodes}, f, nil)
	})
}

// floods are what is compared.
var floods = []struct {
	name  string
	flood func(ctx context.Context, b *bench, c *runtime.Client, turn, n int) (loaded, error)
}{{"signals", floodSignals}, {"puts", floodPuts}, {"adds", floodAdds}}

// floodSignals sends n signals to a run, and waits until it has received them.
func floodSignals(ctx context.Context, b *bench, c *runtime.Client, _, n int) (loaded, error) {
	run, err := runtime.Start(ctx, c, collectFlow, n, nil)
	if err != nil {
		return loaded{}, err
	}
	l := load{workers: b.o.concurrency, runs: n, each: func(ctx context.Context, _ int) error {
		return runtime.Signal(ctx, c, run.ID(), item, 1, nil)
	}}
	sent, err := l.run(ctx)
	if err != nil {
		return sent, err
	}
	_, err = run.Result(ctx)
	return sent, err
}

// batchesOf is a collector of a turn, whose last batch is not left waiting.
func batchesOf(turn, n int) (to *gather.Collector[int, int], key string) {
	rules := gather.Rules{Size: min(gatherSize, n), Wait: time.Second}
	return gather.Batch("bench", gatherFlow, rules), fmt.Sprint(turn)
}

// floodPuts puts n inputs, and waits until a batch has the last one.
func floodPuts(ctx context.Context, b *bench, c *runtime.Client, turn, n int) (loaded, error) {
	to, key := batchesOf(turn, n)
	l := load{workers: b.o.concurrency, runs: n - 1, each: func(ctx context.Context, _ int) error {
		return gather.Put(ctx, c, to, "put "+key, 1, nil)
	}}
	sent, err := l.run(ctx)
	if err != nil {
		return sent, err
	}
	last, err := gather.Add(ctx, c, to, "put "+key, 1, nil)
	if err != nil {
		return sent, err
	}
	_, err = last.Result(ctx)
	return sent, err
}

// floodAdds adds n inputs, and waits for the run of the last one.
func floodAdds(ctx context.Context, b *bench, c *runtime.Client, turn, n int) (loaded, error) {
	to, key := batchesOf(turn, n)
	add := func(ctx context.Context, _ int) (*gather.Ticket[int], error) {
		return gather.Add(ctx, c, to, "add "+key, 1, nil)
	}
	l := load{workers: b.o.concurrency, runs: n - 1, each: func(ctx context.Context, i int) error {
		_, err := add(ctx, i)
		return err
	}}
	sent, err := l.run(ctx)
	if err != nil {
		return sent, err
	}
	last, err := add(ctx, n)
	if err != nil {
		return sent, err
	}
	_, err = last.Result(ctx)
	return sent, err
}
