package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// tenantKey is where a program keeps the tenant of a request.
type tenantKey struct{}

func withTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

var errNoTenant = errors.New("the request has no tenant")

// tenants lets nobody call a client without a tenant. Runs get it as a label, and steps of theirs
// find it in their context, whichever node executes them.
var tenants = runtime.Interceptor{
	Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
		tenant, ok := ctx.Value(tenantKey{}).(string)
		if !ok {
			return errNoTenant // nothing is stored, and the caller finds it with errors.Is
		}
		if call.Kind == runtime.StartCall {
			call.Start.Labels["tenant"] = tenant
		}
		return next(ctx)
	},
	Step: func(ctx context.Context, next func(context.Context) error) error {
		step, _ := workflow.StepInfo(ctx)
		return next(withTenant(ctx, step.Labels["tenant"]))
	},
}

func ExampleInterceptor() {
	const Bill workflow.Name[int, string] = "bill"
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Interceptors: []runtime.Interceptor{tenants},
	})
	runtime.Handle(node, Bill, func(ctx workflow.Context, amount int) (string, error) {
		return workflow.Step(ctx, "charge", func(ctx context.Context) (string, error) {
			return fmt.Sprint(ctx.Value(tenantKey{}), " pays ", amount), nil
		}, nil)
	}, nil)
	running(node, func(ctx context.Context) {
		_, err := runtime.Start(ctx, node.Client(), Bill, 12, nil)
		fmt.Println(err, errors.Is(err, errNoTenant))
		run, err := runtime.Start(withTenant(ctx, "acme"), node.Client(), Bill, 12, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run.Result(ctx))
	})
	// Output:
	// start of bill was refused: the request has no tenant true
	// acme pays 12 <nil>
}

// measured tells of each attempt of each step how long its body took and how it ended. The node
// has metrics and spans of its own; this is for what they do not say.
func measured(report func(step workflow.Attempt, took time.Duration, err error)) runtime.Interceptor {
	return runtime.Interceptor{Step: func(ctx context.Context, next func(context.Context) error) error {
		step, _ := workflow.StepInfo(ctx)
		began := time.Now()
		err := next(ctx)
		report(step, time.Since(began), err)
		return err
	}}
}

func ExampleInterceptor_steps() {
	const Ship workflow.Name[string, string] = "ship"
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Interceptors: []runtime.Interceptor{measured(func(step workflow.Attempt, took time.Duration, err error) {
			fmt.Println(step.Workflow, step.Step, "attempt", step.Attempt, took < time.Minute, err)
		})},
	})
	down := true
	runtime.Handle(node, Ship, func(ctx workflow.Context, what string) (string, error) {
		return workflow.Step(ctx, "print label", func(context.Context) (string, error) {
			if down {
				down = false
				return "", errors.New("the printer is off")
			}
			return what + " is labelled", nil
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
	}, nil)
	running(node, func(ctx context.Context) {
		run, err := runtime.Start(ctx, node.Client(), Ship, "parcel", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run.Result(ctx))
	})
	// Output:
	// ship print label attempt 1 true the printer is off
	// ship print label attempt 2 true <nil>
	// parcel is labelled <nil>
}
