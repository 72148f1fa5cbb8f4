package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var signalScenario = scenario{
	name: "signal", about: "ping-pong with one run and with -concurrency runs, then many signals into one run",
	defaults: options{runs: 10_000, concurrency: 64},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		for _, pairs := range []int{1, b.o.concurrency} {
			if err := b.inFresh(ctx, func(d *database) error { return b.pingPong(ctx, d, pairs) }); err != nil {
				return err
			}
		}
		return b.inFresh(ctx, func(d *database) error { return b.flood(ctx, d) })
	},
}

// pingPong sends a signal to a run, which answers by a step, again and again.
func (b *bench) pingPong(ctx context.Context, d *database, pairs int) error {
	turns := max(b.o.runs/b.o.concurrency, 1) // of each pair
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		client := nodes.client(0)
		game := func(runs, turns int) (loaded, error) {
			l := load{workers: runs, runs: runs}
			times := make([]latencies, runs)
			l.each = func(ctx context.Context, i int) error { return rally(ctx, client, i, turns, &times[i]) }
			got, err := l.run(ctx)
			got.latencies = nil
			for _, t := range times {
				got.latencies = append(got.latencies, t...)
			}
			return got, err
		}
		if _, err := game(min(pairs, 8), 3); err != nil { // statements are prepared
			return err
		}
		var got loaded
		m, err := d.measured(ctx, func() (err error) {
			got, err = game(pairs, turns)
			return err
		})
		if err != nil {
			return err
		}
		f := figures{"round_trips_per_second": float64(pairs*turns) / got.took.Seconds()}
		got.latencies.into(f, "round_trip")
		c, err := m.counters(ctx, nodes.close, 0, pairs*turns)
		if err != nil {
			return err
		}
		return b.emit(settings{"case": "ping-pong", "pairs": pairs, "turns": turns}, f, c)
	})
}

// rally plays with one run.
func rally(ctx context.Context, client *runtime.Client, i, turns int, times *latencies) error {
	answer := make(chan struct{}, 1)
	echoes.Store(i, answer)
	defer echoes.Delete(i)
	run, err := runtime.Start(ctx, client, echoFlow, turns, nil)
	if err != nil {
		return err
	}
	for range turns {
		at := time.Now()
		if err := runtime.Signal(ctx, client, run.ID(), item, i, nil); err != nil {
			return err
		}
		select {
		case <-answer:
		case <-ctx.Done():
			return ctx.Err()
		}
		*times = append(*times, time.Since(at))
	}
	_, err = run.Result(ctx)
	return err
}

// flood sends many signals to one run.
func (b *bench) flood(ctx context.Context, d *database) error {
	n := max(b.o.runs, 1)
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		client := nodes.client(0)
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		var sent loaded
		m, err := d.measured(ctx, func() error {
			run, err := runtime.Start(ctx, client, collectFlow, n, nil)
			if err != nil {
				return err
			}
			l := load{workers: b.o.concurrency, runs: n, each: func(ctx context.Context, _ int) error {
				return runtime.Signal(ctx, client, run.ID(), item, 1, nil)
			}}
			if sent, err = l.run(ctx); err != nil {
				return err
			}
			if got, err := run.Result(ctx); err != nil || got != n {
				return fmt.Errorf("the run received %d of %d signals: %w", got, n, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		f := figures{
			"sent_per_second": sent.perSecond(), "received_per_second": float64(n) / m.took.Seconds(), "total_seconds": m.took.Seconds(),
		}
		sent.latencies.into(f, "send")
		c, err := m.counters(ctx, nodes.close, 0, n)
		if err != nil {
			return err
		}
		return b.emit(settings{"case": "into one run", "signals": n, "concurrency": b.o.concurrency}, f, c)
	})
}
