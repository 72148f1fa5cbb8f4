package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	tenantSync workflow.Name[string, int] = "sync"  // of a tenant: at most one at once
	nightly    workflow.Name[int, int]    = "night" // calls sync, for several tenants, as children
)

// syncs are runs that hold a limit, and count themselves from their first step to their last one.
func syncs(c *callers) func(*runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, tenantSync, func(ctx workflow.Context, tenant string) (int, error) {
			begin := func(context.Context) error { c.enter("", tenant); return nil }
			if err := workflow.Do(ctx, "begin", begin, nil); err != nil {
				return 0, err
			}
			if err := workflow.Sleep(ctx, 5*time.Millisecond); err != nil { // it holds its limit while it is parked
				return 0, err
			}
			return 1, workflow.Do(ctx, "end", func(context.Context) error { c.leave("", tenant); return nil }, nil)
		}, nil)
		runtime.Handle(n, nightly, func(ctx workflow.Context, tenants int) (int, error) {
			var calls []workflow.Future[int]
			for i := range tenants {
				tenant := fmt.Sprint("tenant ", i)
				o := &workflow.ChildOptions{Limits: []workflow.StepLimit{{Name: "sync", Key: tenant}}}
				calls = append(calls, workflow.CallAsync(ctx, tenantSync, tenant, o).Future)
			}
			all, err := workflow.All(ctx, calls...)
			return len(all), err
		}, nil)
	}
}

// J14: runs and children hold a limit until they close, of each key and in total, on whichever nodes
// they are, and all of them get on.
func TestRunsHoldLimits(t *testing.T) {
	t.Run("Postgres", func(t *testing.T) {
		c, counted := clustertest.New(t), newCallers(nil)
		nodes := []*clustertest.Node{c.Run(nil, syncs(counted)), c.Run(nil, syncs(counted))}
		runsHoldLimits(t, runtime.NewClient(c.Journal, nil), counted)
		for _, n := range nodes {
			n.Stop()
		}
	})
	t.Run("SQLite", func(t *testing.T) {
		counted := newCallers(nil)
		n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), new(clustertest.Log), syncs(counted))
		defer stop()
		runsHoldLimits(t, n.Client(), counted)
	})
}

func runsHoldLimits(t *testing.T, client *runtime.Client, counted *callers) {
	t.Helper()
	ctx := clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "sync", Concurrency: 1, Total: 2}); err != nil {
		t.Fatal(err)
	}
	var runs []*runtime.Run[int]
	for i := range 12 {
		tenant := fmt.Sprint("tenant ", i%3)
		o := &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "sync", Key: tenant}}}
		if i == 11 {
			o.Delay = 300 * time.Millisecond
		}
		run, err := runtime.Start(ctx, client, tenantSync, tenant, o)
		runs = append(runs, clustertest.MustStart(t, run, err))
	}
	night, err := runtime.Start(ctx, client, nightly, 4, nil)
	clustertest.MustStart(t, night, err)
	for _, r := range runs {
		if got, err := r.Result(ctx); err != nil || got != 1 {
			t.Errorf("run %s: %d, %v", r.ID(), got, err)
		}
	}
	if got, err := night.Result(ctx); err != nil || got != 4 {
		t.Errorf("children: %d, %v", got, err)
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	for key, most := range counted.most {
		if want := map[bool]int{true: 2, false: 1}[key == ""]; most > want {
			t.Errorf("%d runs of %q at once, of %d", most, key, want)
		}
	}
	if counted.calls != 16 {
		t.Errorf("%d runs have begun, of 16", counted.calls)
	}
	clustertest.Until(t, "nothing is held", func() bool {
		page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Claims: 10, Uses: 10})
		return err == nil && len(page.Claims)+len(page.Uses) == 0
	})
}

// A run that waits for its limits says so, keeps a cancel request until it begins, and is closed at
// once by a termination.
func TestARunWaitsForItsLimits(t *testing.T) {
	c, release := clustertest.New(t), make(chan struct{})
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, tenantSync, func(ctx workflow.Context, tenant string) (int, error) {
			return 1, workflow.Do(ctx, "hold", func(ctx context.Context) error {
				select {
				case <-release:
				case <-ctx.Done():
				}
				return ctx.Err()
			}, nil)
		}, nil)
	})
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "sync", Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	start := func() *runtime.Run[int] {
		t.Helper()
		run, err := runtime.Start(ctx, client, tenantSync, "t", &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "sync", Key: "t"}}})
		return clustertest.MustStart(t, run, err)
	}
	first := start()
	clustertest.Until(t, "the first holds the limit", func() bool {
		page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Run: first.ID(), Claims: 1})
		return err == nil && len(page.Claims) == 1 && !page.Claims[0].Granted.IsZero()
	})
	cancelled, terminated := start(), start()
	e, err := client.Why(ctx, terminated.ID())
	if err != nil || len(e.Reasons) == 0 || e.Reasons[0].Kind != runtime.ReasonLimited || !strings.Contains(e.Reasons[0].Text, `"sync", key "t"`) {
		t.Errorf("why: %+v, %v", e.Reasons, err)
	}
	if err := client.Cancel(ctx, cancelled.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if err := client.Terminate(ctx, terminated.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := terminated.Result(ctx); err == nil {
		t.Error("the terminated run has a result")
	}
	d, err := client.Describe(ctx, cancelled.ID())
	if err != nil || d.Run.Task == nil || d.Run.Task.State != journal.Limited {
		t.Errorf("the run that was asked to cancel itself: %+v, %v", d, err)
	}
	close(release)
	if got, err := first.Result(ctx); got != 1 || err != nil {
		t.Errorf("the first: %d, %v", got, err)
	}
	clustertest.Until(t, "the cancelled run ends", func() bool {
		d, err := client.Describe(ctx, cancelled.ID())
		return err == nil && d.Run.Status.Closed()
	})
}
