package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

var ceilingScenario = scenario{
	name: "ceiling", about: "the rows and statements of chain in full batches, without the engine, and chain's share of that",
	defaults: options{runs: 60_000, concurrency: 512, steps: []int{1, 3, 10}},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		for _, n := range b.o.steps {
			if err := b.ceilingOf(ctx, n); err != nil {
				return err
			}
		}
		return nil
	},
}

// ceilingOf measures the ceiling and, right behind it, chain with as many runs.
func (b *bench) ceilingOf(ctx context.Context, steps int) error {
	part := *b
	part.o.runs = max(b.o.runs/(steps+1), b.o.concurrency) // about as many events each time
	var f, chained figures
	var c, chainCost *counters
	err := b.inFresh(ctx, func(d *database) (err error) {
		f, c, err = part.ceiling(ctx, d, steps)
		return err
	})
	if err != nil {
		return err
	}
	err = b.inFresh(ctx, func(d *database) (err error) {
		chained, chainCost, err = part.chain(ctx, d, steps)
		return err
	})
	if err != nil {
		return err
	}
	f["chain_runs_per_second"] = chained["runs_per_second"]
	f["chain_commit_batch"] = chained["commit_batch"]
	f["chain_share"] = chained["runs_per_second"] / f["runs_per_second"]
	f["chain_driver_cpu_us_per_run"], f["driver_cpu_us_per_run"] = chainCost.PerRun.DriverCPU, c.PerRun.DriverCPU
	if c.PerRun.PostgresCPU != nil && chainCost.PerRun.PostgresCPU != nil {
		own, chained := *c.PerRun.PostgresCPU, *chainCost.PerRun.PostgresCPU
		f["chain_postgres_cpu_us_per_run"], f["postgres_cpu_us_per_run"] = chained, own
		f["chain_cpu_share"] = ratio(own+c.PerRun.DriverCPU, chained+chainCost.PerRun.DriverCPU)
	}
	return b.emit(settings{"steps": steps, "concurrency": b.o.concurrency, "lanes": ceilingLanes}, f, c)
}

const (
	ceilingLanes = 2   // as many as a node's committer lanes
	ceilingBatch = 500 // as much as a lane takes at once
)

// cohort is runs that go through their lives together: one batch of starts, then a batch of commits a step.
type cohort struct {
	starts  []journal.Start
	commits [][]journal.Commit // by turn
}

// ceiling writes cohorts on two connections at once.
func (b *bench) ceiling(ctx context.Context, d *database, steps int) (figures, *counters, error) {
	m, err := newMember(ctx, d.dsn)
	if err != nil {
		return nil, nil, err
	}
	defer m.store.Close()
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: string(chainFlow), Version: 1}
	self, err := m.journal.Join(ctx, journal.Node{Name: "ceiling", Routes: []journal.Route{route}, Lease: time.Hour})
	if err != nil {
		return nil, nil, err
	}
	size := min(max(b.o.concurrency/ceilingLanes, 1), ceilingBatch)
	warm, cohorts := newCohorts(self.ID(), 2*size, size, steps), newCohorts(self.ID(), b.o.runs, size, steps)
	if err := writeCohorts(ctx, m.journal, warm); err != nil {
		return nil, nil, err
	}
	meter, err := d.measure(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := writeCohorts(ctx, m.journal, cohorts); err != nil {
		return nil, nil, err
	}
	if err := meter.stop(ctx); err != nil {
		return nil, nil, err
	}
	perSecond := float64(b.o.runs) / meter.took.Seconds()
	f := figures{"runs_per_second": perSecond, "steps_per_second": perSecond * float64(steps), "batch": float64(size)}
	c, err := meter.counters(ctx, func() error {
		err := self.Leave(ctx)
		m.store.Close()
		return err
	}, b.o.runs, b.o.runs*steps)
	return f, c, err
}

func newCohorts(node journal.NodeID, runs, size, steps int) []cohort {
	var all []cohort
	for ; runs > 0; runs -= size {
		c := cohort{commits: make([][]journal.Commit, steps)}
		for range min(size, runs) {
			id := journal.NewRunID()
			c.starts = append(c.starts, journal.Start{
				ID: id, Workflow: string(chainFlow), Input: journal.Payload{Data: fmt.Append(nil, steps)}, Owner: node,
			})
			for turn := range steps {
				c.commits[turn] = append(c.commits[turn], chainCommit(id, node, turn, steps))
			}
		}
		all = append(all, c)
	}
	return all
}

// chainCommit is what a node commits after a step of a run that it owns from birth.
func chainCommit(id journal.RunID, node journal.NodeID, turn, steps int) journal.Commit {
	now := time.Now()
	issued := []journal.Issued{{Kind: journal.CommandStep, Name: "step"}}
	c := journal.Commit{Run: id, Node: node, Fence: 1, Turn: journal.Turn(turn), Generation: 1}
	if turn == 0 { // the first event rides with the first commit
		c.Events = append(c.Events, journal.Event{Seq: 1, Kind: journal.RunStarted, Time: now, Issued: issued})
	}
	step := journal.Event{
		Seq: journal.Seq(turn + 2), Kind: journal.StepCompleted, Cmd: journal.Cmd(turn + 1), Time: now, Name: "step", Attempt: 1,
		Payload: journal.Payload{Data: []byte("1")}, Issued: issued,
	}
	if turn == steps-1 {
		step.Issued = nil
		end := journal.Event{Seq: step.Seq + 1, Kind: journal.RunCompleted, Time: now, Payload: journal.Payload{Data: fmt.Append(nil, steps)}}
		c.Events, c.Next.Kind = append(c.Events, step, end), journal.NextClose
		return c
	}
	c.Events = append(c.Events, step)
	return c
}

// writeCohorts writes them from as many goroutines as there are lanes.
func writeCohorts(ctx context.Context, j *journal.Journal, cohorts []cohort) error {
	errs := make([]error, ceilingLanes)
	var wg sync.WaitGroup
	for lane := range ceilingLanes {
		wg.Go(func() {
			for i := lane; i < len(cohorts) && errs[lane] == nil; i += ceilingLanes {
				errs[lane] = cohorts[i].write(ctx, j)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *cohort) write(ctx context.Context, j *journal.Journal) error {
	started, err := j.Start(ctx, nil, c.starts)
	if err != nil {
		return err
	}
	for _, s := range started {
		if s.Err != nil || !s.Owned {
			return fmt.Errorf("run %s was not started as owned: %w", s.Run, s.Err)
		}
	}
	for _, commits := range c.commits {
		out, err := j.Commit(ctx, commits)
		if err != nil {
			return err
		}
		for _, o := range out {
			if o.Err != nil {
				return o.Err
			}
		}
	}
	return nil
}
