package bulk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestPauseCancelsSteps: a pause that cancels steps ends the contexts of those that are executed,
// and the runs are paused without their outcomes.
func TestPauseCancelsSteps(t *testing.T) {
	const slow workflow.Name[int, int] = "slow"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		ended := make(chan error, 3)
		e.Register(func(n *runtime.Node) {
			bulk.Handle(n)
			runtime.Handle(n, slow, func(ctx workflow.Context, _ int) (int, error) {
				return workflow.Step(ctx, "wait", func(ctx context.Context) (int, error) {
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return 0, ctx.Err()
				}, nil)
			}, nil)
		})
		ctx, c := context.Background(), e.Client()
		for range 3 {
			run, err := runtime.Start(ctx, c, slow, 1, nil)
			clustertest.MustStart(e, run, err)
		}
		synctest.Wait()
		job, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Pause, Where: `workflow = "slow"`, CancelSteps: true}, nil)
		if got := clustertest.MustResult(e, clustertest.MustStart(e, job, err)); got.Done != 3 {
			e.Errorf("it has done %+v", got)
		}
		synctest.Wait()
		if len(ended) != 3 {
			e.Errorf("%d steps have ended", len(ended))
		}
		wantFound(e, c, `workflow = "slow" and status = paused`, 3)
	})
}

// TestRetryAgain: runs whose compensation has completed are retried if the job says so, and are
// failures of a job that does not.
func TestRetryAgain(t *testing.T) {
	const saga workflow.Name[int, string] = "saga"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		charged := 0
		e.Register(func(n *runtime.Node) {
			bulk.Handle(n)
			runtime.Handle(n, saga, func(ctx workflow.Context, _ int) (string, error) {
				_, err := workflow.Step(ctx, "charge", func(context.Context) (int, error) {
					if charged++; charged == 1 {
						return 0, workflow.Permanent(errors.New("no"))
					}
					return 1, nil
				}, nil)
				if err == nil {
					return "charged", nil
				}
				_, undone := workflow.Step(ctx, "undo", func(context.Context) (int, error) { return 1, nil }, nil)
				return "", errors.Join(err, undone)
			}, nil)
		})
		ctx, c := context.Background(), e.Client()
		started, err := runtime.Start(ctx, c, saga, 1, nil)
		run := clustertest.MustStart(e, started, err)
		synctest.Wait()
		for _, again := range []bool{false, true} {
			job, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Retry, Where: `workflow = "saga"`, Again: again}, nil)
			got := clustertest.MustResult(e, clustertest.MustStart(e, job, err))
			if !again && (got.Failed != 1 || !strings.Contains(got.Failures[0].Error, "step undo has completed")) || again && got.Done != 1 {
				e.Errorf("with Again %v it has done %+v", again, got)
			}
		}
		if out := clustertest.MustResult(e, runtime.RunOf(c, saga, run.ID())); out != "charged" {
			e.Errorf("the result is %q", out)
		}
		wantFound(e, c, `workflow = "saga" and status = "completed"`, 1)
	})
}
