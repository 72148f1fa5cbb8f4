package main

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

var chainScenario = scenario{
	name: "chain", about: "runs of -steps sequential steps that do nothing, from start to result",
	defaults: options{seconds: 10, concurrency: saturated, steps: []int{1, 3, 10}},
	run: func(ctx context.Context, b *bench) error {
		for _, n := range b.o.steps {
			s := b.chainSettings(n)
			if err := b.inFresh(ctx, func(d *database) error {
				f, c, err := b.chain(ctx, d, n)
				if err != nil {
					return err
				}
				return b.emit(s, f, c)
			}); err != nil {
				return err
			}
		}
		return nil
	},
}

func (b *bench) chainSettings(steps int) settings {
	s := settings{"steps": steps, "concurrency": b.o.concurrency, "nodes": b.o.nodes}
	if b.o.lanes > 0 {
		s["lanes"] = b.o.lanes
	}
	if b.o.live > 0 {
		s["live"] = b.o.live
	}
	return s
}

// inFresh runs fn on a fresh database.
func (b *bench) inFresh(ctx context.Context, fn func(d *database) error) error {
	d, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(d), d.drop())
}

// withNodes runs fn while nodes run.
func (b *bench) withNodes(ctx context.Context, d *database, o runtime.NodeOptions, fn func(f *fleet) error) error {
	f, err := d.nodes(ctx, b.o.nodes, o)
	if err != nil {
		return err
	}
	return f.while(ctx, fn)
}

// withNodesThat is withNodes for nodes that serve further workflows.
func withNodesThat(ctx context.Context, b *bench, d *database, register func(*runtime.Node), fn func(f *fleet) error) error {
	f, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{})
	if err != nil {
		return err
	}
	for _, m := range f.members {
		register(m.node)
	}
	return f.while(ctx, fn)
}

// while runs fn while the nodes run.
func (f *fleet) while(ctx context.Context, fn func(f *fleet) error) error {
	if err := f.launch(ctx); err != nil {
		return errors.Join(err, f.close())
	}
	return errors.Join(fn(f), f.close())
}

// chain measures runs of sequential steps on nodes of their own.
func (b *bench) chain(ctx context.Context, d *database, steps int) (f figures, c *counters, err error) {
	err = b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		l := b.chainLoad(nodes, steps)
		if err := warmUp(ctx, l); err != nil {
			return err
		}
		before := nodes.batches()
		got, m, err := d.under(ctx, l)
		if err != nil {
			return err
		}
		f = figures{"runs_per_second": got.perSecond(), "steps_per_second": got.perSecond() * float64(steps)}
		got.latencies.into(f, "start_to_result")
		nodes.batches().since(before, f)
		c, err = m.counters(ctx, nodes.close, got.runs, got.runs*steps)
		return err
	})
	return f, c, err
}

// chainLoad starts runs and waits for each one's result, each worker by a node of its own.
func (b *bench) chainLoad(nodes *fleet, steps int) load {
	return flowLoad(nodes, chainFlow, steps, load{workers: b.o.concurrency, runs: b.o.runs, d: b.o.duration()})
}

func flowLoad[In, Out any](nodes *fleet, name workflow.Name[In, Out], in In, l load) load {
	l.each = func(ctx context.Context, i int) error {
		run, err := runtime.Start(ctx, nodes.client(i), name, in, nil)
		if err != nil {
			return err
		}
		_, err = run.Result(ctx)
		return err
	}
	return l
}

const warmUps = 2 // runs of each worker, before anything is measured

// warmUp has statements prepared and code paged in.
func warmUp(ctx context.Context, l load) error {
	l.runs = warmUps * l.workers
	_, err := l.run(ctx)
	return err
}
