package pages_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// tenantKey is where a program keeps the tenant of a request.
type tenantKey struct{}

var errNoTenant = errors.New("the request has no tenant")

// tenants lets nobody call without a tenant, and makes that a label of runs.
func tenants(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
	tenant, ok := ctx.Value(tenantKey{}).(string)
	if !ok {
		return errNoTenant
	}
	if call.Kind == runtime.StartCall {
		call.Start.Labels["tenant"] = tenant
	}
	return next(ctx)
}

// inTenant gives steps the tenant of their run.
func inTenant(ctx context.Context, next func(context.Context) error) error {
	step, _ := workflow.StepInfo(ctx)
	return next(context.WithValue(ctx, tenantKey{}, step.Labels["tenant"]))
}

// measure reports each attempt.
func measure(report func(step workflow.Attempt, took time.Duration, err error)) func(context.Context, func(context.Context) error) error {
	return func(ctx context.Context, next func(context.Context) error) error {
		step, _ := workflow.StepInfo(ctx)
		began := time.Now()
		err := next(ctx)
		report(step, time.Since(began), err)
		return err
	}
}

// told are the notices that were sent.
var told struct {
	sync.Mutex
	texts []string
}

func tell(_ context.Context, text string) error {
	told.Lock()
	defer told.Unlock()
	told.texts = append(told.texts, text)
	return nil
}

// notice tells somebody of each run that fails.
func notice(ctx workflow.Context, next func(workflow.Context) error) error {
	err := next(ctx)
	var again *workflow.ContinueError
	if err == nil || errors.As(err, &again) || errors.Is(err, workflow.ErrCancelled) {
		return err
	}
	name, text := ctx.Info().Workflow, err.Error()
	_ = workflow.Do(workflow.Shield(ctx), "notice", func(ctx context.Context) error {
		return tell(ctx, name+" failed: "+text)
	}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 3}})
	return err
}

// intercepted is a node and a client with the same interceptors.
func intercepted(j *journal.Journal, logger *slog.Logger, report func(workflow.Attempt, time.Duration, error)) (*runtime.Node, *runtime.Client) {
	around := []runtime.Interceptor{{Client: tenants, Step: inTenant}, {Step: measure(report)}, {Workflow: notice}}
	node := runtime.NewNode(j, &runtime.NodeOptions{Logger: logger, Interceptors: around})
	client := runtime.NewClient(j, &runtime.ClientOptions{Logger: logger, Interceptors: around})
	return node, client
}

// TestInterceptors: a call without a tenant is refused, steps see that of their run, each attempt
// is measured, a failure is told once, and the history replays with the interceptor and not
// without.
func TestInterceptors(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	node, client := intercepted(journal.New(memory.New(nil), nil), slog.New(slog.DiscardHandler), func(a workflow.Attempt, _ time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		text := a.Step
		if err != nil {
			text += ": " + err.Error()
		}
		seen = append(seen, text)
	})
	fn := func(ctx workflow.Context, in string) (int, error) {
		return workflow.Step(ctx, "charge", func(ctx context.Context) (int, error) {
			tenant, _ := ctx.Value(tenantKey{}).(string)
			return 0, workflow.Permanent(errors.New(tenant + " has no money for " + in))
		}, nil)
	}
	runtime.Handle(node, charge, fn, nil)
	serve(t, node)
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme")
	if _, err := runtime.Start(t.Context(), client, charge, "tea", nil); !errors.Is(err, errNoTenant) || err.Error() != "start of charge was refused: the request has no tenant" {
		t.Errorf("without a tenant: %v", err)
	}
	run, err := runtime.Start(ctx, client, charge, "tea", nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "acme has no money for tea"
	if _, err := run.Result(ctx); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the run ended with %v", err)
	}
	mu.Lock()
	if !slices.Equal(seen, []string{"charge: " + want, "notice"}) {
		t.Errorf("measured %q", seen)
	}
	mu.Unlock()
	told.Lock()
	if len(told.texts) != 1 || told.texts[0] != "charge failed: step charge: "+want {
		t.Errorf("told %q", told.texts)
	}
	told.Unlock()
	d, err := client.Describe(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	events, err := client.History(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	var code, plain replaytest.Registry
	code.Add(workflow.Intercept(workflow.Define(charge, 1, fn), notice))
	plain.Add(workflow.Define(charge, 1, fn))
	h := replaytest.Of(d.Run, events)
	if err := replaytest.Check(&code, h); err != nil {
		t.Error(err)
	}
	if err := replaytest.Check(&plain, h); err == nil {
		t.Error("the history fits the workflow without its interceptor")
	}
}

// bagged are interceptors and one that carries a baggage.
func bagged(around []runtime.Interceptor) []runtime.Interceptor {
	around = append(around, runtime.Propagate(propagation.Baggage{}))
	return around
}

// TestBaggage: the step of a run has the baggage of who started it.
func TestBaggage(t *testing.T) {
	member, err := baggage.NewMember("plan", "gold")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(baggage.ContextWithBaggage(t.Context(), bag))
	const look workflow.Name[string, string] = "look"
	store := memory.New(nil)
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Interceptors: bagged(nil)})
	runtime.Handle(node, look, func(ctx workflow.Context, member string) (string, error) {
		return workflow.Step(ctx, "look", func(ctx context.Context) (string, error) {
			return baggage.FromContext(ctx).Member(member).Value(), nil
		}, nil)
	}, nil)
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	run, err := runtime.Start(ctx, node.Client(), look, "plan", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); got != "gold" || err != nil {
		t.Errorf("the step sees %q, %v", got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	store.Close()
}
