package workflow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	greet workflow.Name[string, string]   = "greet"
	watch workflow.Name[struct{}, string] = "watch"
	news  workflow.Signal[string]         = "news"
)

func init() {
	town["greet"] = workflow.Define(greet, 1, func(ctx workflow.Context, who string) (string, error) { return "hello " + who, nil })
	town["watch"] = workflow.Define(watch, 1, func(ctx workflow.Context, _ struct{}) (string, error) {
		first, err := news.Receive(ctx)
		return "heard: " + first, err
	})
}

func ExampleCall() {
	party := func(ctx workflow.Context, guest string) (string, error) {
		return workflow.Call(ctx, greet, guest, &workflow.ChildOptions{
			Key:           "greeting of " + guest, // one at a time
			OnParentClose: workflow.CloseAbandon,
		})
	}
	drive(workflow.Define("party", 1, party), "Ann")
	// Output: RunCompleted "hello Ann"
}

func ExampleCallAsync() {
	party := func(ctx workflow.Context, guests []string) (all []string, err error) {
		var greetings []workflow.Future[string]
		for _, guest := range guests {
			greetings = append(greetings, workflow.CallAsync(ctx, greet, guest, nil).Future)
		}
		return workflow.All(ctx, greetings...)
	}
	drive(workflow.Define("party", 1, party), []string{"Ann", "Bob"})
	// Output: RunCompleted ["hello Ann","hello Bob"]
}

func ExampleChild_ID() {
	tell := func(ctx workflow.Context, _ struct{}) (string, error) {
		watcher := workflow.CallAsync(ctx, watch, struct{}{}, nil)
		if err := news.Send(ctx, watcher.ID(), "it rains"); err != nil {
			return "", err
		}
		return watcher.Get(ctx)
	}
	drive(workflow.Define("tell", 1, tell), nil)
	// Output: RunCompleted "heard: it rains"
}

func ExampleChild_Cancel() {
	impatient := func(ctx workflow.Context, _ struct{}) (string, error) {
		watcher := workflow.CallAsync(ctx, watch, struct{}{}, nil)
		watcher.Cancel()
		_, err := watcher.Get(ctx) // the child says how it ended
		return fmt.Sprint("cancelled: ", errors.Is(err, workflow.ErrCancelled)), nil
	}
	drive(workflow.Define("impatient", 1, impatient), nil)
	// Output: RunCompleted "cancelled: true"
}

func ExampleSignal_Send() {
	tell := func(ctx workflow.Context, to workflow.RunID) (string, error) {
		err := news.Send(ctx, to, "it rains")
		if errors.Is(err, workflow.ErrRunNotFound) || errors.Is(err, workflow.ErrRunClosed) {
			return "nobody there", nil
		}
		return "told", err
	}
	drive(workflow.Define("tell", 1, tell), workflow.RunID{7})
	// Output: RunCompleted "nobody there"
}

func ExampleSignal_SendAsync() {
	tell := func(ctx workflow.Context, _ struct{}) (string, error) {
		watcher := workflow.CallAsync(ctx, watch, struct{}{}, nil)
		news.SendAsync(ctx, watcher.ID(), "first") // they arrive in this order
		news.SendAsync(ctx, watcher.ID(), "second")
		return watcher.Get(ctx)
	}
	drive(workflow.Define("tell", 1, tell), nil)
	// Output: RunCompleted "heard: first"
}

func ExampleCancelRun() {
	stop := func(ctx workflow.Context, other workflow.RunID) (bool, error) {
		err := workflow.CancelRun(ctx, other, "no longer needed")
		return errors.Is(err, workflow.ErrRunNotFound), nil
	}
	drive(workflow.Define("stop", 1, stop), workflow.RunID{7})
	// Output: RunCompleted true
}

func ExampleContinueAsNew() {
	const Count workflow.Name[int, string] = "count"
	count := func(ctx workflow.Context, sum int) (string, error) {
		const More workflow.Signal[int] = "more"
		n, err := More.Receive(ctx)
		if err != nil || n == 0 {
			return fmt.Sprintf("%d in generation %d", sum, ctx.Info().Generation), err
		}
		return "", workflow.ContinueAsNew(ctx, Count, sum+n, nil)
	}
	drive(workflow.Define(Count, 1, count), 0,
		occurrence{signal: "more", payload: 1}, occurrence{signal: "more", payload: 2}, occurrence{signal: "more", payload: 0})
	// Output: RunCompleted "3 in generation 3"
}

func ExampleContext_ShouldContinue() {
	const Tick workflow.Name[int, string] = "tick"
	tick := func(ctx workflow.Context, days int) (string, error) {
		for ; days < 7; days++ {
			if ctx.ShouldContinue() { // the history is long
				return "", workflow.ContinueAsNew(ctx, Tick, days, nil)
			}
			if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("a week in %d generations", ctx.Info().Generation), nil
	}
	drive(workflow.Define(Tick, 1, tick), 0)
	// Output: RunCompleted "a week in 2 generations"
}
