package pages_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// observed is a node that tells what it does.
func observed(store journal.Store, logger *slog.Logger, mp metric.MeterProvider, tp trace.TracerProvider) (*runtime.Node, error) {
	observer, err := runtime.Observe(mp) // of the store's calls
	if err != nil {
		return nil, err
	}
	j := journal.New(store, &journal.Options{Observer: observer, Logger: logger})
	return runtime.NewNode(j, &runtime.NodeOptions{Logger: logger, MeterProvider: mp, TracerProvider: tp}), nil
}

// standing calls fn for each run that is blocked or in quarantine.
func standing(ctx context.Context, client *runtime.Client, fn func(journal.Run) error) error {
	for _, state := range []journal.TaskState{journal.Blocked, journal.Quarantined} {
		if err := each(ctx, client, journal.ListFilter{State: &state}, fn); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for each run that a filter selects.
func each(ctx context.Context, client *runtime.Client, filter journal.ListFilter, fn func(journal.Run) error) error {
	for {
		page, err := client.List(ctx, filter)
		if err != nil {
			return err
		}
		for _, run := range page.Runs {
			if err := fn(run); err != nil {
				return err
			}
		}
		if filter.Cursor = page.Next; filter.Cursor == "" {
			return nil
		}
	}
}

// purge deletes what was closed before a moment, with its history, messages and key.
func purge(ctx context.Context, client *runtime.Client, before time.Time) (deleted int, err error) {
	for _, status := range []journal.Status{journal.Completed, journal.Failed, journal.Cancelled, journal.Terminated} {
		filter := journal.ListFilter{Status: &status, Until: before} // started before; now those that ended before, too
		err := each(ctx, client, filter, func(run journal.Run) error {
			if !run.ClosedAt.Before(before) {
				return nil
			}
			err := client.Delete(ctx, run.ID)
			if errors.Is(err, journal.ErrNotFound) { // another process purges as well
				return nil
			}
			deleted++
			return err
		})
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

const charge workflow.Name[string, int] = "charge"

// serve runs a node until the test ends.
func serve(t *testing.T, node *runtime.Node) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestOperations: what operations.md says about metrics, standing runs and purging.
func TestOperations(t *testing.T) {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	node, err := observed(memory.New(nil), slog.New(slog.DiscardHandler), provider, noop.NewTracerProvider())
	if err != nil {
		t.Fatal(err)
	}
	repaired := make(chan struct{})
	runtime.Handle(node, charge, func(ctx workflow.Context, in string) (int, error) {
		if in == "odd" {
			select {
			case <-repaired:
			default:
				panic("odd")
			}
		}
		return len(in), nil
	}, nil)
	serve(t, node)
	client := node.Client()
	start := func(in string) *runtime.Run[int] {
		run, err := runtime.Start(t.Context(), client, charge, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if _, err := start("even").Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	odd := start("odd")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, between := 0, time.Time{}
	for found == 0 {
		err := standing(ctx, client, func(run journal.Run) error {
			found++
			if run.ID != odd.ID() || run.Task.Problem == "" {
				t.Errorf("run %s stands still: %q", run.ID, run.Task.Problem)
			}
			between = time.Now() // one run has ended before, the other one will end after
			close(repaired)
			return client.Resume(t.Context(), run.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := odd.Result(t.Context()); err != nil {
		t.Fatal(err)
	}

	var told metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &told); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, scope := range told.ScopeMetrics {
		for _, m := range scope.Metrics {
			names[m.Name] = true
		}
	}
	for _, want := range []string{"reprise.run.blocked", "reprise.journal.duration", "reprise.run.closed"} {
		if !names[want] {
			t.Errorf("there is no metric %s, only %v", want, names)
		}
	}
	wantPurged(t, client, between)
}

// wantPurged: of two runs that have ended, each goes when it had ended before the moment.
func wantPurged(t *testing.T, client *runtime.Client, between time.Time) {
	t.Helper()
	for _, c := range []struct {
		before time.Time
		want   int
	}{{between.Add(-time.Hour), 0}, {between, 1}, {between.Add(time.Hour), 1}} {
		if n, err := purge(t.Context(), client, c.before); n != c.want || err != nil {
			t.Errorf("%d runs were deleted, %v; want %d", n, err, c.want)
		}
	}
	if page, err := client.List(t.Context(), journal.ListFilter{}); len(page.Runs) != 0 || err != nil {
		t.Errorf("%d runs are left, %v", len(page.Runs), err)
	}
}

// TestOldCode: the filters by which operations.md tells whether old code may be removed.
func TestOldCode(t *testing.T) {
	node := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	const waits workflow.Signal[int] = "waits"
	for version := range int32(2) {
		runtime.Handle(node, charge, func(ctx workflow.Context, in string) (int, error) {
			if version == 1 {
				workflow.Changed(ctx, "ask the bank first")
			}
			return waits.Receive(ctx)
		}, &runtime.HandleOptions{Version: version + 1})
	}
	serve(t, node)
	client := node.Client()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for version := range int32(2) {
		options := &runtime.StartOptions{Version: version + 1}
		run, err := runtime.Start(t.Context(), client, charge, "", options)
		if err != nil {
			t.Fatal(err)
		}
		for { // its first turn is written when it waits
			d, err := client.Describe(ctx, run.ID())
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Waiting) > 0 {
				break
			}
		}
	}
	old := journal.ListFilter{Workflow: "charge", Unchanged: "ask the bank first"} // open runs that may take the old branch
	v1 := journal.ListFilter{Workflow: "charge", Version: 1, Status: new(journal.Open)}
	for _, filter := range []journal.ListFilter{old, v1} {
		page, err := client.List(t.Context(), filter)
		if err != nil || len(page.Runs) != 1 || page.Runs[0].Version != 1 {
			t.Errorf("%+v selects %d runs, %v", filter, len(page.Runs), err)
		}
	}
}
