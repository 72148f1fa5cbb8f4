package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// notice tells somebody when a workflow fails, whichever it is. The step is in a Shield, so that it
// is executed in a run that was cancelled too, and its own failure changes nothing.
func notice(ctx workflow.Context, next func(workflow.Context) error) error {
	err := next(ctx)
	if _, again := errors.AsType[*workflow.ContinueError](err); err == nil || again {
		return err
	}
	name, text := ctx.Info().Workflow, err.Error() // the step's body must not use ctx
	_ = workflow.Do(workflow.Shield(ctx), "notice", func(context.Context) error {
		fmt.Println("mail:", name, "failed:", text)
		return nil
	}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 3}})
	return err
}

// An interceptor is around each workflow of a node, see runtime.NodeOptions. A test puts it around
// one.
func ExampleIntercept() {
	pay := func(ctx workflow.Context, amount int) (string, error) {
		if amount > 100 {
			return "", errors.New("too much")
		}
		return "paid", nil
	}
	def := workflow.Intercept(workflow.Define("pay", 1, pay), notice)
	drive(def, 12)
	drive(def, 1200)
	// Output:
	// RunCompleted "paid"
	// mail: pay failed: too much
	// RunFailed too much
}

func ExampleOnFailure() {
	def := workflow.Define("pay", 1, func(ctx workflow.Context, amount int) (string, error) {
		if err := workflow.Sleep(ctx, time.Hour); err != nil || amount > 100 {
			return "", errors.Join(err, errors.New("too much"))
		}
		return "paid", nil
	})
	workflow.OnFailure(def, func(ctx workflow.Context, err error) error {
		return workflow.Do(ctx, "mail", func(context.Context) error {
			fmt.Println("mail: failed:", err)
			return nil
		}, nil)
	})
	drive(def, 12)
	drive(def, 1200)
	// Output:
	// RunCompleted "paid"
	// mail: failed: too much
	// RunFailed too much
}
