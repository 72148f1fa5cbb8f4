package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

type proceedIn = func(workflow.Context) error

// stepsOf are the names of the steps that a run's present generation has completed.
func stepsOf(t *testing.T, client *runtime.Client, run journal.RunID) (names []string) {
	t.Helper()
	events, err := client.History(clustertest.Context(t), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if ev.Kind == journal.StepCompleted {
			names = append(names, ev.Name)
		}
	}
	return names
}

// TestWorkflowInterceptors: they are around each generation of each workflow of the node, also of
// children; their steps are replayed by another node, and queries and updates find what the
// function has set.
func TestWorkflowInterceptors(t *testing.T) {
	const (
		parent workflow.Name[int, int]   = "parent"
		child  workflow.Name[int, int]   = "child"
		count  workflow.Query[int, int]  = "count"
		add    workflow.Update[int, int] = "add"
	)
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{
		{Workflow: func(ctx workflow.Context, next proceedIn) error {
			if err := step(ctx, "open "+ctx.Info().Workflow); err != nil {
				return err
			}
			err := next(ctx)
			if err != nil {
				_ = step(ctx, "notice")
			}
			return err
		}},
		{},
		{Workflow: func(ctx workflow.Context, next proceedIn) error {
			if err := step(ctx, "inner"); err != nil {
				return err
			}
			return next(ctx)
		}},
	}
	register := func(n *runtime.Node) {
		runtime.Handle(n, child, func(ctx workflow.Context, in int) (int, error) { return in, nil }, nil)
		runtime.Handle(n, parent, func(ctx workflow.Context, left int) (int, error) {
			sum := 0
			count.Handle(ctx, func(int) (int, error) { return sum, nil })
			add.Handle(ctx, func(_ workflow.Context, in int) (int, error) { sum += in; return sum, nil }, nil)
			if left > 0 {
				return 0, workflow.ContinueAsNew(ctx, parent, left-1, nil)
			}
			if _, err := approved.Receive(ctx); err != nil {
				return 0, err
			}
			_, err := workflow.Call(ctx, child, sum, &workflow.ChildOptions{Key: "the child"})
			return sum, errors.Join(err, errTenant)
		}, nil)
	}
	a := c.Run(o, register)
	run, err := runtime.Start(ctx, a.Client(), parent, 1, nil)
	clustertest.MustStart(t, run, err)
	clustertest.Parked(t, a.Client(), run.ID())
	if got, want := stepsOf(t, a.Client(), run.ID()), []string{"open parent", "inner"}; !slices.Equal(got, want) {
		t.Errorf("the second generation has the steps %q, want %q", got, want)
	}
	a.Stop()
	b := c.Run(o, register)
	if got, err := runtime.CallUpdate(ctx, b.Client(), run.ID(), add, 42, nil); got != 42 || err != nil {
		t.Errorf("the update's answer is %d, %v", got, err)
	}
	if got, err := runtime.Query(ctx, b.Node, run.ID(), count, 0); got != 42 || err != nil {
		t.Errorf("the query's answer is %d, %v", got, err)
	}
	if err := runtime.Signal(ctx, b.Client(), run.ID(), approved, "yes", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err == nil || !strings.Contains(err.Error(), errTenant.Error()) {
		t.Errorf("the run ended with %v", err)
	}
	if got, want := stepsOf(t, b.Client(), run.ID()), []string{"open parent", "inner", "notice"}; !slices.Equal(got, want) {
		t.Errorf("the run has the steps %q, want %q", got, want)
	}
	id, err := b.Client().FindKey(ctx, "the child")
	if got, want := stepsOf(t, b.Client(), id), []string{"open child", "inner"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("the child has the steps %q, want %q, %v", got, want, err)
	}
}

// TestMistakeOfAWorkflowInterceptorBlocks: nothing is lost by a wrong interceptor. The run is
// blocked, with the interceptor in its problem, and goes on with a better one.
func TestMistakeOfAWorkflowInterceptorBlocks(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{{Workflow: func(ctx workflow.Context, next proceedIn) error { _ = next(ctx); return nil }}}
	register := func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) { return in, errTenant }, nil)
	}
	a := c.Run(o, register)
	run, err := runtime.Start(ctx, a.Client(), greet, "x", nil)
	clustertest.MustStart(t, run, err)
	d := clustertest.Described(t, a.Client(), run.ID(), "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	if p := d.Run.Task.Problem; !strings.Contains(p, "workflow interceptor runtime_test.TestMistakeOfAWorkflowInterceptorBlocks.func1 (interceptor_test.go:") ||
		!strings.Contains(p, "returned nil although next had failed") || !strings.Contains(p, errTenant.Error()) {
		t.Errorf("the problem is %s", p)
	}
	a.Stop()
	b := c.Run(nil, register)
	if err := b.Client().Resume(ctx, run.ID()); err != nil && !errors.Is(err, journal.ErrClosed) { // the node was faster
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err == nil || !strings.Contains(err.Error(), errTenant.Error()) {
		t.Errorf("the run ended with %v", err)
	}
}

// TestStepInterceptors: they are around every sort of step, within its span, with its name and its
// transaction. An error of theirs fails the attempt, with all that it did in a transaction.
func TestStepInterceptors(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	account := c.Account()
	pool, err := pgxpool.New(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db, err := postgres.OpenDatabase(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	type tenant struct{}
	var mu sync.Mutex
	var log []string
	o := c.Options()
	o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(tracetest.NewInMemoryExporter()))
	o.Interceptors = []runtime.Interceptor{{Step: func(ctx context.Context, next proceed) error {
		a, ok := workflow.StepInfo(ctx)
		if !ok || !trace.SpanContextFromContext(ctx).IsValid() {
			t.Errorf("step %q has no span", a.Step)
		}
		err := next(context.WithValue(ctx, tenant{}, "acme"))
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf("%s %d: %v", a.Step, a.Attempt, err))
		if a.Attempt == 1 {
			return errors.Join(err, errTenant)
		}
		return err
	}}}
	sees := func(ctx context.Context) (string, error) { return fmt.Sprint(ctx.Value(tenant{})), nil }
	inTx := func(ctx context.Context, tx pgx.Tx) (string, error) {
		if _, err := clustertest.Enter(ctx, tx); err != nil {
			return "", err
		}
		return sees(ctx)
	}
	register := func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			o := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 3}}
			limited := &workflow.StepOptions{Retry: o.Retry, AttemptTimeout: time.Minute}
			a, err := workflow.Step(ctx, "plain", sees, o)
			b, err2 := workflow.StepTx(ctx, "tx", inTx, o)
			d, err3 := workflow.StepIn(ctx, "in", db, inTx, o)
			e, err4 := workflow.Step(ctx, "limited", sees, limited)
			return a + b + d + e, errors.Join(err, err2, err3, err4)
		}, nil)
	}
	n := c.Run(o, register)
	run, err := runtime.Start(ctx, n.Client(), greet, "x", nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != "acmeacmeacmeacme" {
		t.Errorf("got %q", got)
	}
	if want := []string{
		"plain 1: <nil>", "plain 2: <nil>", "tx 1: <nil>", "tx 2: <nil>", "in 1: <nil>", "in 2: <nil>", "limited 1: <nil>", "limited 2: <nil>",
	}; !slices.Equal(log, want) {
		t.Errorf("seen:\n%s", strings.Join(log, "\n"))
	}
	if got := clustertest.Entries(t, account); got != 2 { // tx once, because the first is rolled back; in once, by its key
		t.Errorf("%d effects, want 2", got)
	}
}
