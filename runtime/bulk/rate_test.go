package bulk_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestLate: a job that had to wait for a call does not make up for it by a burst.
func TestLate(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		calls := 0
		e.Node.Interceptors = []runtime.Interceptor{{Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
			if call.Kind == runtime.TerminateCall {
				if calls++; calls == 10 {
					time.Sleep(5 * time.Second)
				}
			}
			return next(ctx)
		}}}
		e.Register(bulk.Handle)
		c := e.Client()
		startParcels(e, c, "7", 30)
		run, err := bulk.Start(context.Background(), c, bulk.Job{Verb: bulk.Terminate, All: true, Rate: 10, Concurrency: 1}, nil)
		clustertest.MustResult(e, clustertest.MustStart(e, run, err))
		list := auditOf(e, c, "terminate")
		if took := list[29].Time.Sub(list[9].Time); took < 19*100*time.Millisecond-20*time.Millisecond { // what it may catch up
			e.Errorf("20 runs at ten a second took %s", took)
		}
	})
}

// slowly makes each call of the job take a time of the bubble's clock, and returns how many there
// were at once at most.
func slowly(e *runtimetest.Env, takes time.Duration) *atomic.Int32 {
	var now, most atomic.Int32
	e.Node.Interceptors = []runtime.Interceptor{{Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
		if call.Kind == runtime.TerminateCall {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(takes)
		}
		return next(ctx)
	}}}
	return &most
}

// TestRate: in no second are there more calls than the rate says, also where a page ends, and the
// job is as fast as it may be.
func TestRate(t *testing.T) {
	for _, rate := range []float64{0.4, 3, 40} { // pages of 4, 30 and 400 runs
		runtimetest.Test(t, func(e *runtimetest.Env) {
			slowly(e, 20*time.Millisecond)
			e.Register(bulk.Handle)
			c := e.Client()
			n := int(rate * 25)
			startParcels(e, c, "7", n)
			run, err := bulk.Start(context.Background(), c, bulk.Job{Verb: bulk.Terminate, All: true, Rate: rate}, nil)
			clustertest.MustResult(e, clustertest.MustStart(e, run, err))
			list := auditOf(e, c, "terminate")
			for i := range list {
				at := int(rate) + 1 // the next run, as many later
				if i+at < len(list) && list[i+at].Time.Sub(list[i].Time) < time.Duration(float64(time.Second)*float64(at)/rate)-time.Millisecond {
					e.Errorf("rate %v: runs %d to %d of %d within %s", rate, i, i+at, n, list[i+at].Time.Sub(list[i].Time))
				}
			}
			if took := list[n-1].Time.Sub(list[0].Time); took > 26*time.Second {
				e.Errorf("rate %v: %d runs took %s", rate, n, took)
			}
		})
	}
}

// TestConcurrency: as many runs are acted on at once as the job says, and no more.
func TestConcurrency(t *testing.T) {
	for concurrency, want := range map[int]int32{0: 32, 1: 1, 5: 5} {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			most := slowly(e, time.Second)
			e.Register(bulk.Handle)
			startParcels(e, e.Client(), "7", 64)
			run, err := bulk.Start(context.Background(), e.Client(), bulk.Job{Verb: bulk.Terminate, All: true, Concurrency: concurrency}, nil)
			clustertest.MustResult(e, clustertest.MustStart(e, run, err))
			if got := most.Load(); got != want {
				e.Errorf("concurrency %d: %d calls at once, want %d", concurrency, got, want)
			}
		})
	}
}

// TestAbort: a job that is cancelled begins with no further run, waits for the calls that are under
// way, and tells what it has done.
func TestAbort(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		slowly(e, 1500*time.Millisecond)
		e.Register(bulk.Handle)
		c, ctx := e.Client(), context.Background()
		startParcels(e, c, "7", 30)
		run, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Terminate, All: true, Rate: 1}, nil)
		clustertest.MustStart(e, run, err)
		e.Sleep(4500 * time.Millisecond) // two calls of the first page are under way
		e.Cancel(run.ID(), "stop")
		if _, err := run.Result(ctx); !errors.Is(err, workflow.ErrCancelled) {
			e.Errorf("the job ended with %v", err)
		}
		got, err := bulk.ProgressOf(ctx, c, run.ID())
		if err != nil || got.Done != 5 || got.Runs != 30 {
			e.Errorf("told %+v, %v, want 5 done", got, err)
		}
		e.Sleep(time.Minute)
		wantFound(e, c, `workflow = "parcel" and status = "terminated"`, 5)
	})
}

// TestDrain: a node that ends amid a page hands the rest of it to the next one.
func TestDrain(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		c := e.Client()
		runs := startParcels(e, c, "7", 30)
		run, err := bulk.Start(runtime.WithActor(context.Background(), "eva"), c, bulk.Job{Verb: bulk.Terminate, All: true, Reason: "drain", Rate: 1}, nil)
		clustertest.MustStart(e, run, err)
		e.Sleep(4500 * time.Millisecond)
		e.Restart()
		if got := clustertest.MustResult(e, run); got.Done != 30 || got.NotNeeded != 0 {
			e.Errorf("%+v, want 30 done", got)
		}
		wantOnce(e, c, "terminate", runs, "eva", because(run.ID(), "drain"))
	})
}

// TestPause: a paused job begins with no further page, and goes on when it is resumed.
func TestPause(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		c, ctx := e.Client(), context.Background()
		startParcels(e, c, "7", 30)
		run, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Terminate, All: true, Rate: 1}, nil)
		clustertest.MustStart(e, run, err)
		e.Sleep(4500 * time.Millisecond)
		if err := c.Pause(ctx, run.ID(), nil); err != nil {
			e.Fatal(err)
		}
		e.Sleep(time.Hour)
		wantFound(e, c, `workflow = "parcel" and status = "terminated"`, 10) // the page
		if err := c.Resume(ctx, run.ID()); err != nil {
			e.Fatal(err)
		}
		if got := clustertest.MustResult(e, run); got.Done != 30 {
			e.Errorf("%+v, want 30 done", got)
		}
		wantFound(e, c, `workflow = "parcel" and status = "terminated"`, 30)
		var at []journal.RunID
		for _, entry := range auditOf(e, c, "terminate") {
			at = append(at, entry.Run)
		}
		if len(at) != 30 {
			e.Errorf("%d terminations, want 30", len(at))
		}
	})
}
