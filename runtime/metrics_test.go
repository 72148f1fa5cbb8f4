package runtime_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// collected are the metrics that a reader has, by name.
type collected map[string]metricdata.Metrics

func metricsOf(t *testing.T, reader sdkmetric.Reader) collected {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	all := collected{}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			all[m.Name] = m
		}
	}
	return all
}

// value is the sum over a metric's attributes: of a histogram the number of what was recorded.
func (c collected) value(name string) (sum float64) {
	switch d := c[name].Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			sum += float64(p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			sum += float64(p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			sum += p.Value
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			sum += float64(p.Count)
		}
	}
	return sum
}

// prometheus is what the metric is called there: the exporter of OpenTelemetry adds the unit, and
// _total to counters.
func prometheus(m metricdata.Metrics) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	if sum, ok := m.Data.(metricdata.Sum[int64]); ok && sum.IsMonotonic {
		name += "_total"
	}
	return name
}

// Every metric is collected with what its name says, durations have buckets from a millisecond on,
// and the dashboard shows each metric and none that there is not.
func TestMetrics(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	observer, err := runtime.Observe(mp)
	if err != nil {
		t.Fatal(err)
	}
	const live = 3
	o := c.Options()
	o.MeterProvider, o.LiveMax, o.PassivateAlways = mp, live, true
	var tries atomic.Int32
	began, gate := make(chan struct{}), make(chan struct{})
	n := c.RunOn(c.Open(&journal.Options{Observer: observer}), o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			switch in {
			case "panics":
				panic("no such order")
			case "waits for itself":
				mu := workflow.Mutex{Name: "till"}
				return "", errors.Join(mu.Lock(ctx), mu.Lock(ctx))
			}
			return workflow.Step(ctx, "hold", func(context.Context) (string, error) {
				if tries.Add(1) == 1 {
					return "", errors.New("flaky")
				}
				began <- struct{}{}
				<-gate
				return "", nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
		}, nil)
	})
	client := runtime.NewClient(c.Journal, nil) // the node does not own what this one starts
	start := func(in string) *runtime.Run[string] {
		run, err := runtime.Start(ctx, client, waiter, in, nil)
		return clustertest.MustStart(t, run, err)
	}
	bad, stuck := start("panics"), start("waits for itself")
	clustertest.Described(t, client, bad.ID(), "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	clustertest.Parked(t, client, stuck.ID())
	if err := client.Terminate(ctx, bad.ID(), ""); err != nil { // it would be tried again, beside those that count
		t.Fatal(err)
	}
	if err := client.Cancel(ctx, stuck.ID(), ""); err != nil {
		t.Fatal(err)
	}
	_, _ = stuck.Result(ctx) // it was cancelled
	if err := runtime.Signal(ctx, n.Client(), stuck.ID(), approved, "", nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a signal to a closed run: %v, want %v", err, journal.ErrClosed)
	}
	runs := make([]*runtime.Run[string], live+1)
	for i := range runs {
		if runs[i] = start(""); i < live {
			<-began
		}
	}
	clustertest.Until(t, "the node is full and somebody waits", func() bool {
		all := metricsOf(t, reader)
		return all.value("reprise.node.waiting") == 1 && all.value("reprise.node.waiting.time") > 0
	})
	if all := metricsOf(t, reader); all.value("reprise.run.live") != live || all.value("reprise.step.running") != live {
		t.Errorf("%v live runs, %v running steps, want %d of both", all.value("reprise.run.live"), all.value("reprise.step.running"), live)
	}
	close(gate)
	<-began
	for _, run := range runs {
		if _, err := run.Result(ctx); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.Until(t, "the node has room and nothing to do", func() bool {
		all := metricsOf(t, reader)
		return all.value("reprise.node.waiting")+all.value("reprise.node.waiting.time")+all.value("reprise.run.live")+all.value("reprise.step.running") == 0
	})
	all := metricsOf(t, reader)
	n.Stop()
	for name, want := range map[string]float64{ // at least
		"reprise.step.duration": live + 2, "reprise.step.wait": live + 2, "reprise.step.retries": 1, "reprise.run.closed": live + 2,
		"reprise.run.duration": live + 2, "reprise.run.blocked": 1, "reprise.run.deadlocked": 1, "reprise.replay.events": 1,
		"reprise.journal.duration": 1, "reprise.journal.members": 1, "reprise.journal.errors": 1,
	} {
		if got := all.value(name); got < want {
			t.Errorf("%s: %v, want at least %v", name, got, want)
		}
	}
	for name, m := range all {
		if h, ok := m.Data.(metricdata.Histogram[float64]); ok && (len(h.DataPoints) == 0 || h.DataPoints[0].Bounds[0] > 0.001 || slices.Max(h.DataPoints[0].Bounds) < 3600) {
			t.Errorf("%s has the wrong buckets: %v", name, h.DataPoints)
		}
	}
	wantShown(t, all)
}

// wantShown compares the metrics with those of the dashboard.
func wantShown(t *testing.T, all collected) {
	t.Helper()
	text, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	shown, labels := map[string]bool{}, []string{"reprise_workflow", "reprise_status", "reprise_step", "reprise_verb"}
	suffix := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, name := range regexp.MustCompile(`reprise_[a-z_]+`).FindAllString(string(text), -1) {
		if !slices.Contains(labels, name) {
			shown[suffix.ReplaceAllString(name, "")] = true
		}
	}
	want := map[string]bool{"reprise_step_abandoned": true} // TestBodiesThatHang has it
	for _, m := range all {
		want[prometheus(m)] = true
	}
	if a, b := slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		t.Errorf("the dashboard shows\n%q, want\n%q", a, b)
	}
}
