package runtime_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	greet workflow.Name[string, string] = "greet"
	count workflow.Name[int, int]       = "count"
)

func TestRunOfSteps(t *testing.T) {
	c := clustertest.New(t)
	var bodies atomic.Int32
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, count, func(ctx workflow.Context, in int) (int, error) {
			for i := range in {
				got, err := workflow.Step(ctx, fmt.Sprintf("step %d", i), func(context.Context) (int, error) {
					bodies.Add(1)
					return i + 1, nil
				}, nil)
				if err != nil || got != i+1 {
					return 0, fmt.Errorf("step %d gave %d, %v", i, got, err)
				}
			}
			return in, nil
		}, nil)
	})
	ctx := clustertest.Context(t)
	for _, client := range []*runtime.Client{n.Client(), runtime.NewClient(c.Journal, nil)} {
		bodies.Store(0)
		run, err := runtime.Start(ctx, client, count, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := run.Result(ctx); err != nil || got != 10 {
			t.Fatalf("result %d, %v", got, err)
		}
		if bodies.Load() != 10 {
			t.Errorf("%d bodies ran, want 10", bodies.Load())
		}
		events, err := client.History(ctx, run.ID())
		if err != nil || len(events) != 12 {
			t.Fatalf("history of %d events, %v; want 12", len(events), err)
		}
	}
}

// failures of steps and what they must look like to the workflow and to the caller.
func TestStepFailures(t *testing.T) {
	once := &workflow.RetryPolicy{Attempts: 1}
	twice := &workflow.RetryPolicy{Attempts: 2, Initial: time.Millisecond}
	for name, tc := range map[string]struct {
		body     func(context.Context) (any, error)
		options  workflow.StepOptions
		typ, msg string
		attempts int32
	}{
		"permanent": {
			body: func(context.Context) (any, error) { return nil, workflow.Permanent(errors.New("no such item")) },
			typ:  "errorString", msg: "no such item", attempts: 1,
		},
		"exhausted": {
			body:    func(context.Context) (any, error) { return nil, errors.New("still down") },
			options: workflow.StepOptions{Retry: twice}, typ: "errorString", msg: "still down", attempts: 2,
		},
		"panic": {
			body:    func(context.Context) (any, error) { panic("oops") },
			options: workflow.StepOptions{Retry: twice}, typ: journal.FailurePanic, msg: "oops", attempts: 2,
		},
		"goexit": {
			body:    func(context.Context) (any, error) { goruntime.Goexit(); return nil, nil },
			options: workflow.StepOptions{Retry: once}, typ: journal.FailurePanic, msg: "Goexit", attempts: 1,
		},
		"goexit with a limit": {
			body:    func(context.Context) (any, error) { goruntime.Goexit(); return nil, nil },
			options: workflow.StepOptions{Retry: once, AttemptTimeout: time.Minute}, typ: journal.FailurePanic, msg: "Goexit", attempts: 1,
		},
		"unencodable": {
			body: func(context.Context) (any, error) { return make(chan int), nil },
			typ:  journal.FailureEncode, msg: "chan int", attempts: 1,
		},
		"oversized": {
			body: func(context.Context) (any, error) { return strings.Repeat("x", journal.PayloadBytesMax), nil },
			typ:  journal.FailureEncode, msg: "exceeds the limit of 2097152", attempts: 1,
		},
		"attempt timeout": {
			body:    func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			options: workflow.StepOptions{Retry: twice, AttemptTimeout: 10 * time.Millisecond}, typ: journal.FailureTimeout, msg: "attempt ran out of time", attempts: 2,
		},
		"attempt timeout of a body that ignores it": {
			body: func(ctx context.Context) (any, error) {
				<-ctx.Done()
				time.Sleep(100 * time.Millisecond) // the very thing under test: a body that goes on
				return "late", nil
			},
			options: workflow.StepOptions{Retry: once, AttemptTimeout: 10 * time.Millisecond}, typ: journal.FailureTimeout, msg: "attempt ran out of time", attempts: 1,
		},
		"overall timeout": {
			body:    func(context.Context) (any, error) { return nil, errors.New("down") },
			options: workflow.StepOptions{Timeout: 50 * time.Millisecond, Retry: &workflow.RetryPolicy{Initial: 5 * time.Millisecond}}, typ: journal.FailureTimeout, msg: "step ran out of time",
		},
		"heartbeat": {
			body:    func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) },
			options: workflow.StepOptions{Retry: once, HeartbeatTimeout: 10 * time.Millisecond}, typ: journal.FailureHeartbeat, msg: "step did not heartbeat in time", attempts: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			n := c.Run(nil, func(n *runtime.Node) {
				runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
					_, err := workflow.Step(ctx, "bad", tc.body, &tc.options)
					if e, ok := errors.AsType[*workflow.StepError](err); !ok || e.Step != "bad" {
						return "", fmt.Errorf("the workflow got %v", err)
					}
					return "", err
				}, nil)
			})
			ctx := clustertest.Context(t)
			run, err := runtime.Start(ctx, n.Client(), greet, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = run.Result(ctx)
			clustertest.WantError[*runtime.FailedError](t, err)
			events, err := n.Client().History(ctx, run.ID())
			if err != nil {
				t.Fatal(err)
			}
			ev := events[1]
			if ev.Kind != journal.StepFailed || tc.attempts != 0 && ev.Attempt != tc.attempts {
				t.Errorf("event %s at attempt %d, want StepFailed at %d", ev.Kind, ev.Attempt, tc.attempts)
			}
			f, err := journal.DecodeFailure(ev.Payload)
			if err != nil || !strings.Contains(f.Type, tc.typ) || !strings.Contains(f.Message, tc.msg) {
				t.Errorf("failure %+v, %v; want type %q, message %q", f, err, tc.typ, tc.msg)
			}
			if tc.typ == journal.FailurePanic && name == "panic" && !strings.Contains(f.Stack, "steps_test.go") {
				t.Errorf("the stack does not lead here: %s", f.Stack)
			}
		})
	}
}
