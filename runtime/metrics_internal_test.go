package runtime

import (
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A node that lost its lease while runs waited for a place, and joins again, has nobody waiting.
func TestWaitingEndsWithTheMembership(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	m, err := newMetrics(meter(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		t.Fatal(err)
	}
	none := func() int { return 0 }
	waiting := func() int64 {
		var data metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		for _, m := range data.ScopeMetrics[0].Metrics {
			if m.Name == metricWaiting {
				return m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
			}
		}
		t.Fatal("the number of those who wait is not collected")
		return 0
	}
	for range 2 {
		stop, err := m.watch(none, none)
		if err != nil {
			t.Fatal(err)
		}
		if n := waiting(); n != 0 {
			t.Errorf("%d wait for a node that has just joined", n)
		}
		m.nodeWaiting(5, time.Now())
		if n := waiting(); n != 5 {
			t.Errorf("%d wait, want 5", n)
		}
		stop()
	}
}
