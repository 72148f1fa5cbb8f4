package temporal

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// work is a worker: it serves a workflow until ctx ends. The store comes from postgres.Open, or
// from sqlite.Open if there is one process.
func work(ctx context.Context, store driver.Store, b *bank) error {
	node := runtime.NewNode(journal.New(store, nil), nil)
	runtime.Handle(node, Payment, b.payment, nil)
	return node.Run(ctx)
}

// pay is a caller. It does not need the workflow's code.
func pay(ctx context.Context, client *runtime.Client, key string, cents int) (id string, err error) {
	run, err := runtime.Start(ctx, client, Payment, cents, &runtime.StartOptions{Key: key})
	if err != nil {
		return "", err
	}
	id, err = run.Result(ctx)
	if failed := new(runtime.FailedError); errors.As(err, &failed) {
		return "", errors.New(failed.Failure.Message)
	}
	return id, err
}

// Guide has the smaller pieces of the guide.
const Guide workflow.Name[int, string] = "guide"

func guide(ctx workflow.Context, cents int) (string, error) {
	charge := func(ctx context.Context) (string, error) { return workflow.IdempotencyKey(ctx), nil }

	once := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}
	if _, err := workflow.Step(ctx, "charge", charge, once); err != nil {
		return "", err
	}

	try := &workflow.StepOptions{OnCancel: workflow.TryCancel}
	future := workflow.StepAsync(ctx, "charge again", charge, try)

	child := workflow.CallAsync(ctx, Greeting, "you", &workflow.ChildOptions{Key: "greet/you", OnParentClose: workflow.CloseTerminate})
	if _, err := future.Get(ctx); err != nil {
		return "", err
	}
	return child.Get(ctx)
}
