package main

import (
	"context"

	"github.com/reprise-run/reprise/runtime"
)

var startScenario = scenario{
	name: "start", about: "start runs; no node is there to execute them",
	defaults: options{seconds: 5, concurrency: saturated},
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.startOnly(ctx, d) })
	},
}

func (b *bench) startOnly(ctx context.Context, d *database) error {
	var clients fleet
	clients.stop = func() {}
	defer clients.close()
	for range b.o.nodes {
		m, err := d.client(ctx)
		if err != nil {
			return err
		}
		clients.members = append(clients.members, m)
	}
	l := load{workers: b.o.concurrency, runs: min(b.o.concurrency, 100), each: func(ctx context.Context, i int) error {
		_, err := runtime.Start(ctx, clients.client(i), chainFlow, 1, nil)
		return err
	}}
	if _, err := l.run(ctx); err != nil { // statements are prepared
		return err
	}
	l.runs, l.d = b.o.runs, b.o.duration()
	before := clients.batches()
	got, m, err := d.under(ctx, l)
	if err != nil {
		return err
	}
	f := figures{"starts_per_second": got.perSecond()}
	clients.batches().since(before, f)
	delete(f, "commit_batch")
	got.latencies.into(f, "start")
	c, err := m.counters(ctx, clients.close, got.runs, 0)
	if err != nil {
		return err
	}
	return b.emit(settings{"concurrency": b.o.concurrency, "clients": b.o.nodes}, f, c)
}
