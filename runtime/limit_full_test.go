package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// A start that a full limit refuses is an error that names the limit, and so is a child, which its
// parent handles. A run that is cancelled to make room tells those who wait for it.
func TestFullLimitsRefuseAndCancel(t *testing.T) {
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), new(clustertest.Log), func(n *runtime.Node) {
		runtime.Handle(n, tenantSync, func(ctx workflow.Context, tenant string) (int, error) {
			return 1, workflow.Do(ctx, "hold", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil)
		}, nil)
		runtime.Handle(n, nightly, func(ctx workflow.Context, _ int) (int, error) {
			_, err := workflow.Call(ctx, tenantSync, "t", &workflow.ChildOptions{Limits: []workflow.StepLimit{{Name: "sync", Key: "t"}}})
			failed := new(workflow.ChildError)
			if errors.Is(err, workflow.ErrLimitFull) && errors.As(err, &failed) && strings.Contains(failed.Message(), `limit "sync", key "t" is full`) {
				return 7, nil
			}
			return 0, err
		}, nil)
	})
	defer stop()
	client, ctx := n.Client(), clustertest.Context(t)
	start := func() (*runtime.Run[int], error) {
		return runtime.Start(ctx, client, tenantSync, "t", &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "sync", Key: "t"}}})
	}
	set := func(l journal.Limit) {
		t.Helper()
		if err := runtime.SetLimit(ctx, client, l); err != nil {
			t.Fatal(err)
		}
	}
	set(journal.Limit{Name: "sync", Concurrency: 1, MaxBacklog: 1})
	var runs []*runtime.Run[int]
	for range 2 {
		run, err := start()
		runs = append(runs, clustertest.MustStart(t, run, err))
	}
	if _, err := start(); err == nil {
		t.Error("a third was started")
	} else if full, ok := errors.AsType[*journal.LimitFullError](err); !ok || *full != (journal.LimitFullError{Limit: "sync", Key: "t", MaxBacklog: 1}) {
		t.Errorf("the error is %v", err)
	}
	night, err := runtime.Start(ctx, client, nightly, 1, nil)
	if got, err := clustertest.MustStart(t, night, err).Result(ctx); got != 7 || err != nil {
		t.Errorf("the parent of a child that is refused: %d, %v", got, err)
	}
	set(journal.Limit{Name: "sync", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelOldest})
	clustertest.Until(t, "one of them holds the limit", func() bool {
		page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Run: runs[0].ID(), Claims: 1})
		return err == nil && len(page.Claims) == 1 && !page.Claims[0].Granted.IsZero()
	})
	run, err := start()
	clustertest.MustStart(t, run, err)
	if _, err := runs[1].Result(ctx); !errors.Is(err, workflow.ErrCancelled) || !strings.Contains(err.Error(), "it cancels the oldest") {
		t.Errorf("the oldest: %v", err)
	}
	if e, err := client.History(ctx, runs[1].ID()); err != nil || len(e) != 1 {
		t.Errorf("the history of one that never ran: %+v, %v", e, err)
	}
}

// The workflow that somebody relies on when a run fails comes to be, whatever a limit that is full
// does to others: nobody would hear of its refusal.
func TestFullLimitsSpareOnFailure(t *testing.T) {
	const (
		fails workflow.Name[int, int]                = "fails"
		mends workflow.Name[workflow.FailedRun, int] = "mends"
		count                                        = 5
	)
	for f := journal.OnFullReject; f <= journal.OnFullCancelNewest; f++ {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), new(clustertest.Log), func(n *runtime.Node) {
				runtime.Handle(n, fails, func(workflow.Context, int) (int, error) { return 0, errors.New("no") }, nil)
				runtime.Handle(n, mends, func(ctx workflow.Context, in workflow.FailedRun) (int, error) { return 1, nil },
					&runtime.HandleOptions{Limits: []journal.LimitNeed{{Name: "mend"}}})
				runtime.Handle(n, tenantSync, func(ctx workflow.Context, _ string) (int, error) {
					return 1, workflow.Await(ctx, func() bool { return false })
				}, nil)
			})
			defer stop()
			client, ctx := n.Client(), clustertest.Context(t)
			if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "mend", Concurrency: 1, MaxBacklog: 1, OnFull: f}); err != nil {
				t.Fatal(err)
			}
			holds := &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "mend"}}}
			first, err := runtime.Start(ctx, client, tenantSync, "", holds)
			clustertest.MustStart(t, first, err)
			for range count {
				run, err := runtime.Start(ctx, client, fails, 1, &runtime.StartOptions{OnFailure: string(mends)})
				if _, err := clustertest.MustStart(t, run, err).Result(ctx); err == nil {
					t.Error("it has not failed")
				}
			}
			if _, err := runtime.Start(ctx, client, tenantSync, "", holds); err == nil != (f != journal.OnFullReject) {
				t.Errorf("another run that comes: %v", err)
			}
			if err := client.Terminate(ctx, first.ID(), ""); err != nil {
				t.Fatal(err)
			}
			clustertest.Until(t, "all handlers have completed", func() bool {
				page, err := client.List(ctx, journal.ListFilter{Where: `status = completed and workflow = "mends"`, Limit: 2 * count})
				return err == nil && len(page.Runs) == count
			})
		})
	}
}
