package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

var backlogScenario = scenario{
	name: "backlog", about: "one-step runs are queued, then nodes start: -runs of as many, then -runs of -queued",
	defaults: options{runs: 50_000, queued: 1_000_000, steps: []int{1}},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		runs := max(b.o.runs, 1)
		for _, depth := range []int{runs, max(b.o.queued, runs)} {
			if err := b.inFresh(ctx, func(d *database) error { return b.backlog(ctx, d, runs, depth) }); err != nil {
				return err
			}
			if b.o.queued <= runs {
				break
			}
		}
		return nil
	},
}

func (b *bench) backlog(ctx context.Context, d *database, runs, depth int) error {
	start := journal.Start{Workflow: string(chainFlow), Input: journal.Payload{Data: fmt.Append(nil, b.o.steps[0])}}
	if err := b.enqueue(ctx, d, depth, start); err != nil {
		return err
	}
	nodes, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{})
	if err != nil {
		return err
	}
	closed := watchCloses(nodes)
	m, err := d.measured(ctx, func() error {
		if err := nodes.launch(ctx); err != nil {
			return err
		}
		return poll(ctx, func() (bool, error) { return closed.len() >= runs, nil })
	})
	if err != nil {
		return errors.Join(err, nodes.close())
	}
	late := closed.since(m.began)
	done := len(late)
	last := late.at(1)
	f := figures{
		"runs_per_second": float64(done) / last.Seconds(), "steps_per_second": float64(done*b.o.steps[0]) / last.Seconds(),
		"first_done_ms": milliseconds(late.at(0)),
	}
	claimed(nodes, f)
	if err := b.claimStatement(ctx, d, f); err != nil {
		return errors.Join(err, nodes.close())
	}
	c, err := m.counters(ctx, nodes.close, done, done*b.o.steps[0])
	if err != nil {
		return err
	}
	return b.emit(settings{"queued": depth, "drained": runs, "steps": b.o.steps[0], "nodes": b.o.nodes}, f, c)
}

// claimed puts what claims cost, as the nodes saw it, into f.
func claimed(nodes *fleet, f figures) {
	var calls, tasks, spent int64
	for _, m := range nodes.members {
		calls += m.tap.claimCalls.Load()
		tasks += m.tap.claims.Load()
		spent += m.tap.claimTime.Load()
	}
	f["claim_batch"] = ratio(float64(tasks), float64(calls))
	f["claim_call_ms"] = ratio(float64(spent)/1e6, float64(calls))
	f["claim_us_per_task"] = ratio(float64(spent)/1e3, float64(tasks))
}

// claimStatementSQL finds the claim among all statements: the only one that raises fences and
// returns rows. The module shows constants as parameters.
const claimStatementSQL = `
SELECT coalesce(sum(s.total_exec_time + s.total_plan_time), 0), coalesce(sum(s.rows), 0)::bigint
FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
WHERE d.datname = $1 AND s.query LIKE '%fence = (((t.fence%' AND s.rows > 0`

var errNoClaim = errors.New("the server has counted no claim: has its statement another text?")

// claimStatement puts what the server spent on a claimed task into f.
func (b *bench) claimStatement(ctx context.Context, d *database, f figures) error {
	if !b.statements {
		return nil
	}
	var spent float64
	var tasks int64
	if err := b.admin.QueryRow(ctx, claimStatementSQL, d.name).Scan(&spent, &tasks); err != nil {
		return err
	}
	if tasks == 0 {
		return errNoClaim
	}
	f["claim_server_us_per_task"] = ratio(spent*1e3, float64(tasks))
	return nil
}

const enqueueWorkers = 4

// enqueue starts many runs that are alike, by the journal itself: it is not what is measured.
func (b *bench) enqueue(ctx context.Context, d *database, n int, start journal.Start) error {
	m, err := d.member(ctx)
	if err != nil {
		return err
	}
	defer m.store.Close()
	batches := make(chan int, n/journal.BatchMax+1)
	for ; n > 0; n -= journal.BatchMax {
		batches <- min(n, journal.BatchMax)
	}
	close(batches)
	errs := make([]error, enqueueWorkers)
	var wg sync.WaitGroup
	for w := range enqueueWorkers {
		wg.Go(func() {
			for size := range batches {
				starts := make([]journal.Start, size)
				for i := range starts {
					starts[i] = start
				}
				if _, errs[w] = m.journal.Start(ctx, nil, starts); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if d.dir != "" {
		return nil
	}
	return d.exec(ctx, `ANALYZE`) // statistics as a server in use has them
}
