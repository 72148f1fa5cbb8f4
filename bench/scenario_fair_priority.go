package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairPriorityScenario = scenario{
	name: "fair/priority", about: "runs of priority 1 beside one of priority 5 whose -steps steps wait for slots: how soon their step begins",
	defaults: options{runs: 5, steps: []int{5_000}},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairPriority(ctx, d) })
	},
}

const (
	crowdStep  = 300 * time.Millisecond
	crowdSlots = 100
)

// fairPriority fills the slots of a node with the steps of one run and starts others, one after the
// other. A slot becomes free in every moment, so whoever comes next should not wait for long.
func (b *bench) fairPriority(ctx context.Context, d *database) error {
	slots := max(1, min(crowdSlots, b.o.steps[0]/10))
	o := runtime.NodeOptions{StepsMax: slots, Drain: time.Millisecond}
	return b.withNodes(ctx, d, o, func(nodes *fleet) error {
		client := nodes.client(0)
		without, err := urgent(ctx, client, b.o.runs)
		if err != nil {
			return err
		}
		greedy := crowd{Steps: b.o.steps[0], Each: crowdStep}
		if _, err := runtime.Start(ctx, client, crowdFlow, greedy, &runtime.StartOptions{Priority: 5}); err != nil {
			return err
		}
		err = poll(ctx, func() (bool, error) { // the first of its steps have ended
			n, err := d.count(ctx, `SELECT count(*) FROM reprise.events WHERE kind = 2`)
			return n > b.o.runs, err
		})
		if err != nil {
			return err
		}
		with, err := urgent(ctx, client, b.o.runs)
		if err != nil {
			return err
		}
		f := figures{"worst_start_in_steps": float64(with.at(1)) / float64(crowdStep)}
		without.into(f, "without")
		with.into(f, "with")
		s := settings{"runs": b.o.runs, "greedy_steps": b.o.steps[0], "step_ms": milliseconds(crowdStep), "slots": slots}
		return b.emit(s, f, nil, atMost("worst_start_in_steps", 2))
	})
}

// urgent starts runs of priority 1, a step's time apart, and returns how long after its start the
// step of each has begun.
func urgent(ctx context.Context, client *runtime.Client, runs int) (latencies, error) {
	all := make(latencies, runs)
	errs := make([]error, runs)
	var waiting sync.WaitGroup
	for i := range all {
		at := time.Now()
		waiting.Go(func() {
			errs[i] = asked(ctx, i, func() error {
				_, err := runtime.Start(ctx, client, pingFlow, i, &runtime.StartOptions{Priority: 1})
				return err
			})
			all[i] = time.Since(at)
		})
		if err := wait(ctx, crowdStep); err != nil {
			break // the others end with ctx too
		}
	}
	waiting.Wait()
	return all, errors.Join(errs...)
}
