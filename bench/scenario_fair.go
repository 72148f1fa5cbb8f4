package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The fair scenarios ask one question: whether one who is slow, large, broken or greedy keeps the
// others waiting. Each has somebody who would, and measures the others without and with him in one
// run of the program; the target is a ratio of the two, wherever there can be one. Those that a
// change has not reached yet are missed, and the lines say so: a target is no test.

// endless is the number of rounds of runs that go on until their node ends.
const endless = math.MaxInt32

// startMany starts runs of a workflow through one client, some at a time.
func startMany[In, Out any](
	ctx context.Context, client *runtime.Client, name workflow.Name[In, Out], in In, n int, o *runtime.StartOptions,
) ([]*runtime.Run[Out], error) {
	runs := make([]*runtime.Run[Out], n)
	l := load{workers: min(n, startersMax), runs: n, each: func(ctx context.Context, i int) (err error) {
		runs[i], err = runtime.Start(ctx, client, name, in, o)
		return err
	}}
	_, err := l.run(ctx)
	return runs, err
}

const startersMax = 256

// resultsOf waits for all runs.
func resultsOf[Out any](ctx context.Context, runs []*runtime.Run[Out]) error {
	var wg sync.WaitGroup
	errs := make(chan error, len(runs))
	for _, r := range runs {
		wg.Go(func() {
			if _, err := r.Result(ctx); err != nil {
				errs <- fmt.Errorf("run %s: %w", r.ID(), err)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// into puts the percentiles of a stretch and its unanswered questions into f.
func (p probed) into(f figures, name string) {
	p.latencies.into(f, name)
	f[name+"_asked"], f[name+"_unanswered"] = float64(len(p.latencies)), float64(p.unanswered)
}

// p99Ratio puts the ratio of the p99 of two stretches into f.
func p99Ratio(f figures, with, without string) {
	f["p99_ratio"] = ratio(f[with+"_p99_ms"], f[without+"_p99_ms"])
}

const probePace = 20 * time.Millisecond // 500 questions in 10 s: enough for a p99
