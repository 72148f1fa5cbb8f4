package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// killer ends random workers on Postgres with SIGKILL, and measures how soon other nodes take their
// runs over. A killed process cannot say goodbye: its sessions end, and its lease runs out later.
type killer struct {
	fleet *fleet
	db    queries
	rand  *rand.Rand
	out   io.Writer
	kills int

	watches sync.WaitGroup
	mu      sync.Mutex
	deaths  []*death // guarded by mu
}

// death is one kill, and what happened to the runs that the node owned.
type death struct {
	node  string
	since time.Duration // since the first start
	runs  int
	moved time.Duration // until every run had a new owner or an end; 0 while that is not so
}

const (
	killGapMin = 700 * time.Millisecond
	killGapMax = 1_000 * time.Millisecond
	watchPace  = 20 * time.Millisecond
)

// spread is how long so many kills take.
func spread(kills int) time.Duration { return time.Duration(kills) * (killGapMin + killGapMax) / 2 }

// Run kills until it has killed often enough or ctx ends, and returns when the runs of all dead
// nodes have a new owner.
func (k *killer) Run(ctx context.Context) error {
	defer k.watches.Wait()
	began := time.Now()
	for range k.kills {
		gap := killGapMin + time.Duration(k.rand.Int64N(int64(killGapMax-killGapMin)))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(gap):
		}
		slot := k.rand.IntN(len(k.fleet.workers))
		name, at := k.fleet.kill(slot)
		d := &death{node: name, since: at.Sub(began)}
		k.mu.Lock()
		k.deaths = append(k.deaths, d)
		k.mu.Unlock()
		k.watches.Go(func() { k.watch(ctx, d, at) })
		if err := k.fleet.launch(slot); err != nil {
			return fmt.Errorf("restart worker %d: %w", slot+1, err)
		}
	}
	return nil
}

const ownedSQL = `
select t.run_id::text, t.fence from reprise.tasks t join reprise.nodes n on n.id = t.owner where n.name = $1`

// stuckSQL counts the runs that still have the fence of the dead owner. A closed run has no task.
const stuckSQL = `
select count(*) from unnest($1::uuid[], $2::bigint[]) as dead(run_id, fence)
join reprise.tasks t on t.run_id = dead.run_id and t.fence = dead.fence`

type ownedRun struct {
	run   string
	fence int64
}

// watch notes what the dead node owned, and polls until all of it has moved on.
func (k *killer) watch(ctx context.Context, d *death, at time.Time) {
	tick := time.NewTicker(watchPace)
	defer tick.Stop()
	var runs []string
	var fences []int64
	for noted := false; ; {
		if !noted {
			owned, err := rows(ctx, k.db, ownedSQL, func(o *ownedRun) []any { return []any{&o.run, &o.fence} }, d.node)
			for _, o := range owned {
				runs, fences = append(runs, o.run), append(fences, o.fence)
			}
			noted = err == nil
			k.update(func() { d.runs = len(runs) })
		}
		if noted {
			stuck := 1
			if _, err := one(ctx, k.db, stuckSQL, []any{runs, fences}, &stuck); err == nil && stuck == 0 {
				k.update(func() { d.moved = time.Since(at) })
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (k *killer) update(fn func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fn()
}

// report prints every kill, and how long it took until the runs moved on.
func (k *killer) report(out io.Writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(out, "\n%d of %d kills\n", len(k.deaths), k.kills)
	var times []time.Duration
	for i, d := range k.deaths {
		fmt.Fprintf(out, "  %2d  at %5.1f s  %-12s  owned %3d runs  ", i+1, d.since.Seconds(), d.node, d.runs)
		switch {
		case d.runs == 0:
			fmt.Fprintln(out, "n/a")
		case d.moved == 0:
			fmt.Fprintln(out, "NOT moved on")
		default:
			times = append(times, d.moved)
			fmt.Fprintf(out, "moved on after %5.2f s\n", d.moved.Seconds())
		}
	}
	if len(times) > 0 {
		slices.Sort(times)
		fmt.Fprintf(out, "runs of dead nodes moved on after: median %.2f s, worst %.2f s\n",
			times[len(times)/2].Seconds(), times[len(times)-1].Seconds())
	}
}
