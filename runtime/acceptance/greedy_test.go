package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	greedy workflow.Name[int, int] = "greedy"
	modest workflow.Name[int, int] = "modest"
)

// quick registers a workflow of one step that returns at once.
func quick(n *runtime.Node) {
	runtime.Handle(n, modest, func(ctx workflow.Context, k int) (int, error) {
		return workflow.Step(ctx, "m", func(context.Context) (int, error) { return k, nil }, nil)
	}, nil)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestWideRunLeavesSlotsToOthers: one run of low priority has a thousand steps for ten slots. Urgent
// runs that come later begin with the next slot: in the time of all of them the wide one has not
// executed a tenth of its steps.
func TestWideRunLeavesSlotsToOthers(t *testing.T) {
	c := clustertest.New(t)
	const wide, urgent = 1000, 10
	var executed atomic.Int64
	o := c.Options()
	o.StepsMax, o.Drain = 10, time.Millisecond
	n := c.Run(o, func(n *runtime.Node) {
		quick(n)
		runtime.Handle(n, greedy, func(ctx workflow.Context, k int) (int, error) {
			var all []workflow.Future[int]
			for range k {
				all = append(all, workflow.StepAsync(ctx, "w", func(ctx context.Context) (int, error) {
					executed.Add(1)
					return 0, sleep(ctx, 100*time.Millisecond)
				}, nil))
			}
			for _, f := range all {
				if _, err := f.Get(ctx); err != nil {
					return 0, err
				}
			}
			return k, nil
		}, nil)
	})
	ctx := clustertest.Context(t)
	s, err := runtime.Start(ctx, n.Client(), greedy, wide, &runtime.StartOptions{Priority: 5})
	run := clustertest.MustStart(t, s, err)
	clustertest.Until(t, "the slots are taken", func() bool { return executed.Load() >= 10 })
	for i := range urgent {
		m, err := runtime.Start(ctx, n.Client(), modest, i, &runtime.StartOptions{Priority: 1})
		clustertest.MustResult(t, clustertest.MustStart(t, m, err))
	}
	if n := executed.Load(); n > wide/2 {
		t.Errorf("%d of %d steps of the wide run were executed before %d urgent runs had one each", n, wide, urgent)
	}
	if err := n.Client().Terminate(ctx, run.ID(), "the test is over"); err != nil {
		t.Error(err)
	}
}

// TestIdleNodeHelps: two nodes with ten slots each execute 400 runs, which come from one of them or
// from the queue. Each executes its share.
func TestIdleNodeHelps(t *testing.T) {
	for name, births := range map[string]bool{"started by a node": true, "from the queue": false} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			const runs = 400
			var executed [2]atomic.Int64
			begin := func(i int) *clustertest.Node {
				o := c.Options()
				o.StepsMax = 10
				return c.Run(o, func(n *runtime.Node) {
					runtime.Handle(n, greedy, func(ctx workflow.Context, k int) (int, error) {
						return workflow.Step(ctx, "w", func(ctx context.Context) (int, error) {
							executed[i].Add(1)
							return k, sleep(ctx, 200*time.Millisecond)
						}, nil)
					}, nil)
				})
			}
			client := runtime.NewClient(c.Journal, nil)
			if births {
				client = begin(0).Client()
				begin(1)
			}
			ctx := clustertest.Context(t)
			var list []*runtime.Run[int]
			for k := range runs {
				s, err := runtime.Start(ctx, client, greedy, k, nil)
				list = append(list, clustertest.MustStart(t, s, err))
			}
			if !births {
				begin(0)
				begin(1)
			}
			for _, run := range list {
				clustertest.MustResult(t, run)
			}
			a, b := executed[0].Load(), executed[1].Load()
			t.Logf("the nodes executed %d and %d steps", a, b)
			if a+b != runs || min(a, b) < runs*45/100 {
				t.Errorf("the nodes executed %d and %d of %d steps", a, b, runs)
			}
		})
	}
}

// TestBusyRunsLeavePlacesToOthers: a node has as many runs as it may own, each of which always has
// something to do. Others get their turn all the same: beside runs with one step after the other,
// beside runs whose steps overlap, and beside runs that fail and retry at once.
func TestBusyRunsLeavePlacesToOthers(t *testing.T) {
	forever := func(ctx workflow.Context, step string) error {
		for {
			if err := workflow.Do(ctx, step, func(ctx context.Context) error { return sleep(ctx, 50*time.Millisecond) }, nil); err != nil {
				return err
			}
		}
	}
	for name, busy := range map[string]func(workflow.Context, int) (int, error){
		"one step after the other": func(ctx workflow.Context, _ int) (int, error) { return 0, forever(ctx, "a") },
		"steps that overlap": func(ctx workflow.Context, _ int) (int, error) {
			var wg workflow.WaitGroup
			wg.Go(ctx, func(ctx workflow.Context) { _ = forever(ctx, "a") })
			wg.Go(ctx, func(ctx workflow.Context) { _ = forever(ctx, "b") })
			return 0, wg.Wait(ctx)
		},
		"retries": func(ctx workflow.Context, _ int) (int, error) {
			return workflow.Step(ctx, "a", func(ctx context.Context) (int, error) {
				// Much longer than the pause between retries, in which a run gives its place away.
				return 0, errors.Join(sleep(ctx, 500*time.Millisecond), errors.New("down"))
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 1, Factor: 1, Max: 1, Jitter: -1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			const places, others = 10, 5
			o := c.Options()
			o.LiveMax, o.Drain = places, time.Millisecond
			reader := sdkmetric.NewManualReader()
			o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
			c.Run(o, func(n *runtime.Node) {
				quick(n)
				runtime.Handle(n, greedy, busy, nil)
			})
			client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
			for i := range 2 * places {
				_, err := runtime.Start(ctx, client, greedy, i, nil)
				if err != nil {
					t.Fatal(err)
				}
			}
			clustertest.Until(t, "the node says that it is full", func() bool {
				return strings.Contains(c.Log.String(), "the node is full, and due runs wait for a place")
			})
			var data metricdata.ResourceMetrics
			if err := reader.Collect(ctx, &data); err != nil || !strings.Contains(fmt.Sprint(data), "reprise.node.waiting") {
				t.Errorf("no metric reprise.node.waiting: %v", err)
			}
			var wg sync.WaitGroup
			for i := range others {
				wg.Go(func() {
					s, err := runtime.Start(ctx, client, modest, i, nil)
					if err == nil {
						_, err = s.Result(ctx)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	}
}
