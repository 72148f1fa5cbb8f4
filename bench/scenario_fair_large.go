package main

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairLargeScenario = scenario{
	name: "fair/large", about: "cold runs are signalled over a slow network, alone and while a history of -steps MiB is loaded: signal to step",
	defaults: options{seconds: 20, steps: []int{200}},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairLarge(ctx, d) })
	},
}

const (
	slowRate  = 5e6 // bytes a second
	smallRuns = 50

	largePatience = 3
)

// fairLarge leaves a large history and some small ones parked, by a node on a fast one. Then a node
// on a slow one gets signals for the small ones, which it has to load as it keeps none in memory.
// After some time the large one gets a signal too: it takes about -steps/5 s at the least to load
// it. The small ones are measured until it has ended, or for largePatience times as long.
func (b *bench) fairLarge(ctx context.Context, d *database) error {
	large, small, err := b.parkLarge(ctx, d)
	if err != nil {
		return err
	}
	l, f := &wire{rate: slowRate}, figures{}
	o := runtime.NodeOptions{WarmMax: 1, WarmIdle: time.Millisecond, Drain: time.Millisecond}
	err = b.withNodes(ctx, d.through(l), o, func(nodes *fleet) error {
		client := nodes.client(0)
		p := &probe{pace: probePace, ask: func(ctx context.Context, i int) error {
			return asked(ctx, i, func() error { return runtime.Signal(ctx, client, small[i%len(small)].ID(), item, i, nil) })
		}}
		if _, err := p.during(ctx, b.o.duration()/10); err != nil { // connections are opened
			return err
		}
		stretch := func(name string, d time.Duration, until <-chan struct{}) error {
			before := l.down.bytes.Load()
			got, err := p.until(ctx, d, until)
			got.into(f, name)
			f[name+"_wire_mb"] = float64(l.down.bytes.Load()-before) / 1e6
			return err
		}
		if err := stretch("without", b.o.duration(), nil); err != nil {
			return err
		}
		loaded, began := make(chan struct{}), time.Now()
		if err := runtime.Signal(ctx, client, large.ID(), item, -1, nil); err != nil {
			return err
		}
		waiting, giveUp := context.WithCancel(ctx)
		defer giveUp()
		go func() { // by this client: that which has started the run is closed
			if _, err := runtime.RunOf(client, bulkFlow, large.ID()).Result(waiting); err == nil {
				close(loaded)
			}
		}()
		ideal := time.Duration(float64(b.o.steps[0]*bulkBytes) / slowRate * float64(time.Second))
		err := stretch("with", largePatience*ideal, loaded)
		f["large_to_ideal"] = float64(time.Since(began)) / float64(ideal)
		return err
	})
	if err != nil {
		return err
	}
	p99Ratio(f, "with", "without")
	s := settings{"history_mib": b.o.steps[0], "wire_mb_per_second": slowRate / 1e6, "small_runs": smallRuns}
	return b.emit(s, f, nil, atMost("p99_ratio", 2))
}

// parkLarge makes the runs, and returns when they wait for signals and nobody owns them.
func (b *bench) parkLarge(ctx context.Context, d *database) (large *runtime.Run[int], small []*runtime.Run[int], err error) {
	err = b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		if large, err = runtime.Start(ctx, nodes.client(0), bulkFlow, b.o.steps[0], nil); err != nil {
			return err
		}
		if small, err = startMany(ctx, nodes.client(0), echoFlow, endless, smallRuns, nil); err != nil {
			return err
		}
		return poll(ctx, func() (bool, error) {
			n, err := d.count(ctx, `SELECT count(*) FROM reprise.v_tasks WHERE state = 'waiting'`)
			return n == smallRuns+1, err
		})
	})
	return large, small, err
}
