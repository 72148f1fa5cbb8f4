package main

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairFailingScenario = scenario{
	name: "fair/failing", about: "one-step runs at a steady pace, alone and beside -queued runs whose step fails and is tried again at once",
	defaults: options{seconds: 10, queued: 10_000},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairFailing(ctx, d) })
	},
}

// fairFailing starts good runs all the time, and measures how long they take.
func (b *bench) fairFailing(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{Drain: time.Millisecond}, func(nodes *fleet) error {
		client := nodes.client(0)
		p := &probe{pace: probePace, ask: func(ctx context.Context, _ int) error {
			run, err := runtime.Start(ctx, client, chainFlow, 1, nil)
			if err != nil {
				return err
			}
			_, err = run.Result(ctx)
			return err
		}}
		if _, err := p.during(ctx, b.o.duration()/10); err != nil {
			return err
		}
		f := figures{}
		got, err := p.during(ctx, b.o.duration())
		if err != nil {
			return err
		}
		got.into(f, "without")
		began := time.Now()
		if _, err := startMany(ctx, client, failingFlow, 0, b.o.queued, nil); err != nil {
			return err
		}
		f["failing_started_seconds"] = time.Since(began).Seconds()
		if got, err = p.during(ctx, b.o.duration()); err != nil {
			return err
		}
		got.into(f, "with")
		p99Ratio(f, "with", "without")
		return b.emit(settings{"failing": b.o.queued}, f, nil, atMost("p99_ratio", 3))
	})
}
