package runtime_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestDeadlockedRun: strands that wait for each other are shown with the lines of their calls,
// logged and counted; a cancel request still ends the run.
func TestDeadlockedRun(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	reader := sdkmetric.NewManualReader()
	o := c.Options()
	o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			mu := workflow.Mutex{Name: "till"}
			ch := workflow.NewChannel[int](0, "orders")
			workflow.Go(ctx, func(ctx workflow.Context) {
				_ = mu.Lock(ctx)
				_ = mu.Lock(ctx)
			})
			_, _, err := ch.Receive(ctx)
			return in, err
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := clustertest.Described(t, n.Client(), run.ID(), "the run is parked", func(d *runtime.Description) bool { return len(d.Waiting) > 0 })
	got := fmt.Sprint(d.Waiting)
	if len(d.Waiting) != 2 || !strings.HasPrefix(d.Waiting[0], `stuck: channel "orders" (receive) at `) ||
		!strings.HasPrefix(d.Waiting[1], `stuck: mutex "till" at `) || strings.Count(got, "deadlocked_test.go:") != 2 {
		t.Errorf("waiting: %s", got)
	}
	if log := c.Log.String(); !strings.Contains(log, "the strands of a run wait for each other") {
		t.Error("nothing is logged")
	}
	if err := n.Client().Cancel(ctx, run.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err == nil {
		t.Error("the run completed")
	}
	n.Stop()
	if counted(t, reader, "reprise.run.deadlocked") != 1 {
		t.Error("it is not counted once")
	}
}

// counted is the sum of a counter.
func counted(t *testing.T, reader sdkmetric.Reader, name string) (sum int64) {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			if points, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				for _, p := range points.DataPoints {
					sum += p.Value
				}
			}
		}
	}
	return sum
}

// TestLogIsSilentOnReplay: each line of a workflow comes once, with the run's id and key, also when
// the run is replayed after every turn.
func TestLogIsSilentOnReplay(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.PassivateAlways = true
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			for i := range 5 {
				workflow.Log(ctx).Info("turn", "number", i)
				if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
					return "", err
				}
			}
			workflow.Log(ctx).Error("over")
			return in, nil
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "x", &runtime.StartOptions{Key: "talkative"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err != nil {
		t.Fatal(err)
	}
	n.Stop()
	var lines []string
	for line := range strings.Lines(c.Log.String()) {
		if strings.Contains(line, "msg=turn") || strings.Contains(line, "level=ERROR msg=over") {
			lines = append(lines, line)
			if !strings.Contains(line, "reprise.run="+run.ID().String()) || !strings.Contains(line, "reprise.key=talkative") {
				t.Errorf("line %s", line)
			}
		}
	}
	if len(lines) != 6 {
		t.Errorf("%d lines:\n%s", len(lines), lines)
	}
}
