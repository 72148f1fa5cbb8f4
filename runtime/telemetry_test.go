package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// One trace from the start through every attempt, on whichever node, and no span is doubled by
// replay.
func TestOneTraceAcrossNodesAndReplays(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	spans := tracetest.NewInMemoryExporter()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	var attempts atomic.Int32
	register := func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			if err := step(ctx, "first"); err != nil {
				return "", err
			}
			if _, err := approved.Receive(ctx); err != nil {
				return "", err
			}
			return workflow.Step(ctx, "second", func(context.Context) (string, error) {
				if attempts.Add(1) == 1 {
					return "", errors.New("flaky")
				}
				return in, nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
		}, nil)
	}
	o := c.Options()
	o.TracerProvider = tp
	a := c.Run(o, register)
	outer, root := tp.Tracer("test").Start(ctx, "caller")
	run, err := runtime.Start(outer, a.Client(), waiter, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	root.End()
	clustertest.Until(t, "the run waits", func() bool {
		d, err := a.Client().Describe(ctx, run.ID())
		return err == nil && len(d.Waiting) > 0
	})
	a.Stop()
	b := c.Run(o, register) // replays
	if err := runtime.Signal(ctx, b.Client(), run.ID(), approved, "go", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err != nil {
		t.Fatal(err)
	}
	b.Stop()
	names := map[string]int{}
	for _, s := range spans.GetSpans() {
		if s.SpanContext.TraceID() != root.SpanContext().TraceID() {
			t.Errorf("span %s is in another trace", s.Name)
		}
		names[s.Name]++
	}
	for name, want := range map[string]int{"caller": 1, "reprise.start": 1, "reprise.step first": 1, "reprise.step second": 2} {
		if names[name] != want {
			t.Errorf("%d spans %q, want %d (all: %v)", names[name], name, want, names)
		}
	}
}

func TestMetrics(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	observer, err := runtime.Observe(mp)
	if err != nil {
		t.Fatal(err)
	}
	o := c.Options()
	o.MeterProvider = mp
	n := c.RunOn(c.Open(&journal.Options{Observer: observer}), o, func(n *runtime.Node) { runtime.Handle(n, count3, threeSteps, nil) })
	run, err := runtime.Start(ctx, n.Client(), count3, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err != nil {
		t.Fatal(err)
	}
	n.Stop()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			names = append(names, m.Name)
		}
	}
	got := strings.Join(names, " ")
	for _, want := range []string{"reprise.step.duration", "reprise.run.closed", "reprise.run.duration", "reprise.journal.duration", "reprise.journal.members", "reprise.journal.errors"} {
		if !strings.Contains(got, want) {
			t.Errorf("no metric %s in %s", want, got)
		}
	}
}
