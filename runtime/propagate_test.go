package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// tenantPropagator is what a user writes.
type tenantPropagator struct{}

func (tenantPropagator) Inject(ctx context.Context, carrier propagation.TextMapCarrier) {
	if tenant, ok := ctx.Value(tenantKey{}).(string); ok {
		carrier.Set("tenant", tenant)
	}
}

func (tenantPropagator) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	if tenant := carrier.Get("tenant"); tenant != "" {
		return context.WithValue(ctx, tenantKey{}, tenant)
	}
	return ctx
}

func (tenantPropagator) Fields() []string { return []string{"tenant"} }

const courier workflow.Name[int, string] = "courier"

// TestPropagate: values of a caller's context are in the contexts of steps: of the run, of its
// child, and of the run that a step starts with a client.
func TestPropagate(t *testing.T) {
	c := clustertest.New(t)
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{runtime.Propagate(propagation.Baggage{}), runtime.Propagate(tenantPropagator{})}
	var client *runtime.Client
	said := func(ctx context.Context) string {
		tenant, _ := ctx.Value(tenantKey{}).(string)
		return tenant + " " + baggage.FromContext(ctx).Member("user").Value()
	}
	n := c.Run(o, func(n *runtime.Node) {
		client = n.Client()
		runtime.Handle(n, courier, func(ctx workflow.Context, depth int) (string, error) {
			if depth == 2 {
				return workflow.Call(ctx, courier, 1, nil)
			}
			return workflow.Step(ctx, "carry", func(ctx context.Context) (string, error) {
				if depth == 0 {
					return said(ctx), nil
				}
				run, err := runtime.Start(ctx, client, courier, 0, nil)
				if err != nil {
					return "", err
				}
				further, err := run.Result(ctx)
				return said(ctx) + ", " + further, err
			}, nil)
		}, nil)
	})
	member, err := baggage.NewMember("user", "eve")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx := baggage.ContextWithBaggage(context.WithValue(clustertest.Context(t), tenantKey{}, "acme"), bag)
	run, err := runtime.Start(ctx, n.Client(), courier, 2, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != "acme eve, acme eve" {
		t.Errorf("steps say %q", got)
	}
	run, err = runtime.Start(ctx, n.Client(), courier, 2, &runtime.StartOptions{Headers: map[string]string{"tenant": "other"}})
	if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != "other eve, other eve" {
		t.Errorf("with a header of its own: %q", got)
	}
	run, err = runtime.Start(clustertest.Context(t), n.Client(), courier, 0, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != " " {
		t.Errorf("without values: %q", got)
	}
	if err := runtime.Signal(ctx, n.Client(), journal.NewRunID(), mended, "", nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a call that is no start: %v", err)
	}
	wide := context.WithValue(ctx, tenantKey{}, strings.Repeat("x", journal.HeadersBytesMax))
	if _, err := runtime.Start(wide, n.Client(), courier, 0, nil); err == nil || !strings.Contains(err.Error(), "header") {
		t.Errorf("too much: %v", err)
	}
}

// TestPropagateAfterAnother: an interceptor may replace the options of a start, or leave out what is
// in them. The next one has maps to write into all the same, which are nobody else's.
func TestPropagateAfterAnother(t *testing.T) {
	shared := &runtime.StartOptions{Headers: map[string]string{"by": "all"}}
	for name, replaced := range map[string]*runtime.StartOptions{"nothing": nil, "no headers": {}, "options of many calls": shared} {
		t.Run(name, func(t *testing.T) {
			j := journal.New(memory.New(nil), nil)
			replace := runtime.Interceptor{Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
				call.Start = replaced
				return next(ctx)
			}}
			client := runtime.NewClient(j, &runtime.ClientOptions{Interceptors: []runtime.Interceptor{replace, runtime.Propagate(tenantPropagator{})}})
			ctx := context.WithValue(clustertest.Context(t), tenantKey{}, "acme")
			run, err := runtime.Start(ctx, client, courier, 2, nil)
			d, err := client.Describe(ctx, clustertest.MustStart(t, run, err).ID())
			if err != nil || d.Run.Headers["tenant"] != "acme" || (replaced == shared) != (d.Run.Headers["by"] == "all") {
				t.Errorf("headers %v, %v", d.Run.Headers, err)
			}
		})
	}
	if len(shared.Headers) != 1 {
		t.Errorf("the options of many calls have headers %v", shared.Headers)
	}
}

const brittle workflow.Name[string, string] = "brittle"

// TestOnFailureOfAHandle: its code is executed once, in a context that is not cancelled, whatever
// interceptors made of the error; a run that ends otherwise does not execute it.
func TestOnFailureOfAHandle(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{{Workflow: func(ctx workflow.Context, next func(workflow.Context) error) error {
		err := next(ctx)
		if err != nil && err.Error() == "plain" {
			return errors.New("plainer")
		}
		return err
	}}}
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, brittle, func(ctx workflow.Context, how string) (string, error) {
			switch how {
			case "ok":
				return "fine", nil
			case "again":
				return "", workflow.ContinueAsNew(ctx, brittle, "plain", nil)
			case "wait":
				return approved.Receive(ctx)
			}
			return "", errors.New(how)
		}, &runtime.HandleOptions{OnFailure: func(ctx workflow.Context, err error) error {
			return errors.Join(step(ctx, "told of "+err.Error()), errors.New("the notice failed"))
		}})
	})
	for how, want := range map[string]string{
		"ok": "fine", "plain": "plainer", "again": "plainer",
	} {
		run, err := runtime.Start(ctx, n.Client(), brittle, how, nil)
		clustertest.MustStart(t, run, err)
		out, err := run.Result(ctx)
		events, _ := n.Client().History(ctx, run.ID())
		told := 0
		for _, ev := range events {
			if ev.Kind == journal.StepCompleted && ev.Name == "told of "+want {
				told++
			}
		}
		switch {
		case how == "ok":
			if out != want || err != nil || told != 0 {
				t.Errorf("%s: %q, %v, told %d", how, out, err, told)
			}
		case err == nil || told != 1 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the notice failed"):
			t.Errorf("%s: %v, told %d", how, err, told)
		}
	}
	for _, terminate := range []bool{false, true} {
		run, err := runtime.Start(ctx, n.Client(), brittle, "wait", nil)
		clustertest.MustStart(t, run, err)
		clustertest.Parked(t, n.Client(), run.ID())
		if terminate {
			err = n.Client().Terminate(ctx, run.ID(), "enough")
		} else {
			err = n.Client().Cancel(ctx, run.ID(), "enough")
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Result(ctx); err == nil {
			t.Error("no error")
		}
		if kinds := clustertest.Kinds(t, n.Client(), run.ID()); clustertest.Count(kinds, journal.StepCompleted) != 0 {
			t.Errorf("terminated %v: %v", terminate, kinds)
		}
	}
	// The time of a run is up: its clean-up and its notice go on.
	run, err := runtime.Start(ctx, n.Client(), brittle, "wait", &runtime.StartOptions{Timeout: 1})
	clustertest.MustStart(t, run, err)
	_, err = run.Result(ctx)
	if kinds := clustertest.Kinds(t, n.Client(), run.ID()); clustertest.Count(kinds, journal.StepCompleted) != 1 || !errors.Is(err, workflow.ErrTimeout) {
		t.Errorf("timed out: %v, %v", kinds, err)
	}
}
