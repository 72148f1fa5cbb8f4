package runtime_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

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
	if err := runtime.Signal(outer, b.Client(), run.ID(), approved, "go", nil); err != nil {
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
	for name, want := range map[string]int{
		"caller": 1, "reprise.start": 1, "reprise.step first": 1, "reprise.step second": 2, "reprise.signal approved": 1, "reprise.run waiter": 1,
	} {
		if names[name] != want {
			t.Errorf("%d spans %q, want %d (all: %v)", names[name], name, want, names)
		}
	}
}

// Each generation has a trace of its own, with a link to the start, and so have the runs that it
// starts; calls of clients have spans under their callers', and a run's span has the journal's
// times.
func TestSpansOfGenerationsAndCalls(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	spans := tracetest.NewInMemoryExporter()
	o := c.Options()
	o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	const (
		rounds workflow.Name[int, int]   = "rounds"
		child  workflow.Name[int, int]   = "child"
		ask    workflow.Query[int, int]  = "ask"
		add    workflow.Update[int, int] = "add"
		finish workflow.Signal[struct{}] = "finish"
	)
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, child, func(ctx workflow.Context, in int) (int, error) { return in, step(ctx, "in a child") }, nil)
		runtime.Handle(n, rounds, func(ctx workflow.Context, left int) (int, error) {
			ask.Handle(ctx, func(in int) (int, error) { return in, nil })
			add.Handle(ctx, func(_ workflow.Context, in int) (int, error) { return in, nil }, nil)
			if err := step(ctx, "round"); err != nil {
				return 0, err
			}
			if left > 0 {
				return 0, workflow.ContinueAsNew(ctx, rounds, left-1, nil)
			}
			if _, err := workflow.Call(ctx, child, 1, nil); err != nil {
				return 0, err
			}
			if _, err := finish.Receive(ctx); err != nil {
				return 0, err
			}
			return 0, errors.New("no more rounds")
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), rounds, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.CallUpdate(ctx, n.Client(), run.ID(), add, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.Query(ctx, n.Node, run.ID(), ask, 1); err != nil {
		t.Fatal(err)
	}
	if err := runtime.Signal(ctx, n.Client(), run.ID(), finish, struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err == nil {
		t.Error("the run completed")
	}
	d, err := n.Client().Describe(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	n.Stop()
	by := map[string][]tracetest.SpanStub{}
	for _, s := range spans.GetSpans() {
		by[s.Name] = append(by[s.Name], s)
	}
	for name, want := range map[string]int{
		"reprise.start": 1, "reprise.step round": 3, "reprise.step in a child": 1, "reprise.run rounds": 1, "reprise.run child": 1,
		"reprise.update add": 1, "reprise.query ask": 1, "reprise.signal finish": 1,
	} {
		if len(by[name]) != want {
			t.Fatalf("%d spans %q, want %d: %v", len(by[name]), name, want, by)
		}
	}
	start, round := by["reprise.start"][0].SpanContext, by["reprise.step round"]
	traces := map[any]bool{}
	for i, s := range round {
		traces[s.SpanContext.TraceID()] = true
		linked := len(s.Links) == 1 && s.Links[0].SpanContext.SpanID() == start.SpanID()
		if first := i == 0; first != (s.SpanContext.TraceID() == start.TraceID()) || linked == first {
			t.Errorf("generation %d: trace %s, links %v; the start has %s", i+1, s.SpanContext.TraceID(), s.Links, start.TraceID())
		}
	}
	if len(traces) != 3 {
		t.Errorf("three generations have %d traces", len(traces))
	}
	last, whole := round[2].SpanContext.TraceID(), by["reprise.run rounds"][0]
	for _, name := range []string{"reprise.step in a child", "reprise.run child", "reprise.run rounds"} {
		if got := by[name][0].SpanContext.TraceID(); got != last {
			t.Errorf("%s is in trace %s, want that of the last generation, %s", name, got, last)
		}
	}
	if !whole.StartTime.Equal(d.Run.StartAt) || !whole.EndTime.Equal(d.Run.Terminal.Time) || whole.Status.Code != codes.Error {
		t.Errorf("the run's span: %v to %v, %v; want %v to %v", whole.StartTime, whole.EndTime, whole.Status, d.Run.StartAt, d.Run.Terminal.Time)
	}
}
