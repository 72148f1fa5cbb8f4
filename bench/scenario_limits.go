package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

var limitsScenario = scenario{
	name: "limits", about: "runs of one step, without a limit and with one, in turns: one limit of 40 for two nodes of 20 slots and steps of 25 ms; " +
		"100,000 keys of one place each; the same with steps that do nothing, which shows what a round costs",
	defaults: options{seconds: 5, concurrency: 400, nodes: 2},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		for _, shape := range []limitShape{
			{name: "one limit", slots: 20, each: 25 * time.Millisecond, limit: journal.Limit{Name: "bench", Concurrency: 40}, keys: 1, target: 0.85},
			{name: "many keys", slots: 20, each: 25 * time.Millisecond, limit: journal.Limit{Name: "bench", Concurrency: 1}, keys: 100_000, target: 0.8},
			{name: "nothing to do", limit: journal.Limit{Name: "bench", Concurrency: 1}, keys: 100_000},
		} {
			if err := b.inFresh(ctx, func(d *database) error { return measureLimit(ctx, b, d, shape) }); err != nil {
				return err
			}
		}
		return nil
	},
}

// limitShape is a limit and the steps that need it.
type limitShape struct {
	name   string
	slots  int // of each node; 0 for the default
	each   time.Duration
	limit  journal.Limit
	keys   int
	target float64 // of the rate without the limit
}

// limitedCall is the input of a run of one step that needs the limit with a key, or none.
type limitedCall struct {
	Key  string
	Each time.Duration
}

const limitedFlow workflow.Name[limitedCall, int] = "limited"

func limitedStep(ctx workflow.Context, in limitedCall) (int, error) {
	var o *workflow.StepOptions
	if in.Key != "" {
		o = &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "bench", Key: in.Key}}}
	}
	return workflow.Step(ctx, "call", func(context.Context) (int, error) {
		if in.Each > 0 {
			time.Sleep(in.Each)
		}
		return 1, nil
	}, o)
}

// measureLimit measures three times without the limit and with it, in turns.
func measureLimit(ctx context.Context, b *bench, d *database, shape limitShape) error {
	nodes, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{StepsMax: shape.slots})
	if err != nil {
		return err
	}
	for _, m := range nodes.members {
		runtime.Handle(m.node, limitedFlow, limitedStep, nil)
	}
	return nodes.while(ctx, func(nodes *fleet) error {
		if err := runtime.SetLimit(ctx, nodes.client(0), shape.limit); err != nil {
			return err
		}
		call := func(limited bool) load {
			l := load{workers: b.o.concurrency, d: b.o.duration()}
			l.each = func(ctx context.Context, i int) error {
				in := limitedCall{Each: shape.each}
				if limited {
					in.Key = fmt.Sprint("key ", rand.IntN(shape.keys))
				}
				run, err := runtime.Start(ctx, nodes.client(i), limitedFlow, in, nil)
				if err == nil {
					_, err = run.Result(ctx)
				}
				return err
			}
			return l
		}
		rates, cpu, server, runs := map[bool]float64{}, map[bool]time.Duration{}, map[bool]time.Duration{}, map[bool]int{}
		const turns = 3
		for range turns {
			for _, limited := range []bool{false, true} {
				if err := warmUp(ctx, call(limited)); err != nil {
					return err
				}
				got, m, err := d.under(ctx, call(limited))
				if err != nil {
					return err
				}
				rates[limited] += got.perSecond() / turns
				runs[limited] += got.runs
				cpu[limited] += m.sum.driver
				server[limited] += m.sum.postgres
			}
		}
		s := settings{"shape": shape.name, "concurrency": b.o.concurrency, "nodes": b.o.nodes, "step_ms": milliseconds(shape.each), "keys": shape.keys}
		f := figures{"unlimited_per_second": rates[false], "limited_per_second": rates[true], "to_unlimited": rates[true] / rates[false]}
		for limited, name := range map[bool]string{false: "unlimited", true: "limited"} {
			n := float64(max(runs[limited], 1))
			f[name+"_node_cpu_us"], f[name+"_server_cpu_us"] = cpu[limited].Seconds()*1e6/n, server[limited].Seconds()*1e6/n
		}
		if shape.target == 0 {
			return b.emit(s, f, nil)
		}
		return b.emit(s, f, nil, atLeast("to_unlimited", shape.target))
	})
}
