package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const guarded workflow.Name[string, string] = "guarded"

// TestInterceptorsWhateverCrashes: the interceptors of the test's node are those of a real one, in
// every process that takes a run over, and histories are checked with them. Fakes and failures of
// the kit are the bodies that they are around.
func TestInterceptorsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		type user struct{}
		var asked, unknown atomic.Int32
		e.Node.Interceptors = []runtime.Interceptor{{
			Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
				if asked.Add(1); call.Kind == runtime.StartCall {
					call.Start.Labels["user"] = "ann"
				}
				return next(ctx)
			},
			Workflow: func(ctx workflow.Context, next func(workflow.Context) error) error {
				if err := workflow.Do(ctx, "open", func(context.Context) error { return nil }, nil); err != nil {
					return err
				}
				err := next(ctx)
				if err == nil {
					return nil
				}
				text := err.Error()
				return errors.Join(err, workflow.Do(ctx, "notice", func(context.Context) error { return errors.New(text) },
					&workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}))
			},
			Step: func(ctx context.Context, next func(context.Context) error) error {
				a, _ := workflow.StepInfo(ctx)
				who := a.Labels["user"]
				if who == "" {
					unknown.Add(1)
				}
				err := next(context.WithValue(ctx, user{}, who))
				if err != nil {
					return fmt.Errorf("%s for %s: %w", a.Step, who, err)
				}
				return nil
			},
		}}
		runtimetest.Handle(e, guarded, func(ctx workflow.Context, in string) (string, error) {
			first, err := workflow.Step(ctx, "first", func(ctx context.Context) (string, error) { return fmt.Sprint(ctx.Value(user{})), nil }, nil)
			if err != nil {
				return "", err
			}
			return first, workflow.Do(ctx, "second", func(context.Context) error { panic("not faked") }, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 2}})
		}, nil)
		runtimetest.Fake(e, "second", func(ctx context.Context) (struct{}, error) {
			return struct{}{}, fmt.Errorf("faked, for %v", ctx.Value(user{}))
		})
		e.FailNext("second", errors.New("from the kit"))
		run := runtimetest.Start(e, guarded, "x", nil)
		_, err := run.Result()
		for _, want := range []string{"second for ann: faked, for ann", "notice for ann: step second: second for ann: faked"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				e.Errorf("the run ended with %v, want %q in it", err, want)
			}
		}
		if asked.Load() != 1 || unknown.Load() != 0 {
			e.Errorf("%d calls, %d steps without a user", asked.Load(), unknown.Load())
		}
	})
}
