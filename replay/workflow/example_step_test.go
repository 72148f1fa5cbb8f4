package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

func ExampleDo() {
	notify := func(ctx workflow.Context, who string) (string, error) {
		err := workflow.Do(ctx, "mail", func(context.Context) error { return nil }, nil)
		return "told " + who, err
	}
	drive(workflow.Define("notify", 1, notify), "Ann")
	// Output: RunCompleted "told Ann"
}

func ExampleHeartbeat() {
	copyAll := func(ctx workflow.Context, files int) (int, error) {
		return workflow.Step(ctx, "copy", func(ctx context.Context) (int, error) {
			next, _ := workflow.LastHeartbeat[int](ctx) // of the attempt before, if it failed
			for ; next < files; next++ {
				if err := workflow.Heartbeat(ctx, next); err != nil {
					return 0, err
				}
			}
			return next, nil
		}, &workflow.StepOptions{HeartbeatTimeout: time.Minute})
	}
	drive(workflow.Define("copy", 1, copyAll), 3)
	// Output: RunCompleted 3
}

func ExampleSettle() {
	ask := func(ctx workflow.Context, question string) (string, error) {
		return workflow.Step(ctx, "ask", func(ctx context.Context) (string, error) {
			answer, tokens := "42", int64(1250) // what the model says, and what it has used
			return answer, workflow.Settle(ctx, "tokens", tokens)
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "model-calls"}, {Name: "tokens", Key: "team-a", Cost: 4000}}})
	}
	drive(workflow.Define("ask", 1, ask), "the question")
	// Output: RunCompleted "42"
}

func ExampleStepInfo() {
	work := func(ctx workflow.Context, _ struct{}) (string, error) {
		return workflow.Step(ctx, "pay", func(ctx context.Context) (string, error) {
			a, _ := workflow.StepInfo(ctx)
			return fmt.Sprintf("step %s of %s, attempt %d", a.Step, a.Workflow, a.Attempt), nil
		}, nil)
	}
	drive(workflow.Define("work", 1, work), nil)
	// Output: RunCompleted "step pay of work, attempt 1"
}

func ExampleRetryAfter() {
	fetch := func(ctx workflow.Context, _ struct{}) (string, error) {
		return workflow.Step(ctx, "fetch", func(context.Context) (string, error) {
			return "", workflow.RetryAfter(errors.New("too many requests"), time.Minute) // as the server says
		}, nil)
	}
	drive(workflow.Define("fetch", 1, fetch), nil) // this driver makes one attempt
	// Output: RunFailed too many requests
}

func ExampleStepTxAsync() {
	book := func(ctx workflow.Context, _ struct{}) (string, error) {
		booked := workflow.StepTxAsync(ctx, "book", func(ctx context.Context, tx *Ledger) (string, error) {
			return "booked", nil // tx commits together with the outcome
		}, nil)
		fmt.Println("ready:", booked.Ready())
		return booked.Get(ctx)
	}
	drive(workflow.Define("book", 1, book), nil)
	// Output:
	// ready: false
	// RunCompleted "booked"
}

func ExampleDoTx() {
	enter := func(ctx workflow.Context, _ struct{}) (string, error) {
		err := workflow.DoTx(ctx, "enter", func(ctx context.Context, tx *Ledger) error {
			return nil // tx commits together with the outcome
		}, nil)
		return "entered", err
	}
	drive(workflow.Define("enter", 1, enter), nil)
	// Output: RunCompleted "entered"
}

// warehouse is a database beside the store's: postgres.OpenDatabase returns one, for example.
type warehouse struct{ kept map[string]journal.Payload }

func (w warehouse) Once(
	ctx context.Context, key string, fn func(context.Context, *Ledger) (journal.Payload, error),
) (journal.Payload, error) {
	if out, done := w.kept[key]; done {
		return out, nil
	}
	out, err := fn(ctx, new(Ledger))
	if err == nil {
		w.kept[key] = out
	}
	return out, err
}

func ExampleStepIn() {
	stock := warehouse{kept: map[string]journal.Payload{}}
	order := func(ctx workflow.Context, _ struct{}) (string, error) {
		left, err := workflow.StepIn(ctx, "take", stock, func(ctx context.Context, tx *Ledger) (int, error) {
			return 41, nil // in a transaction of the warehouse, which keeps the output
		}, nil)
		if err != nil {
			return "", err
		}
		err = workflow.DoIn(ctx, "note", stock, func(ctx context.Context, tx *Ledger) error { return nil }, nil)
		return fmt.Sprint(left, " left"), err
	}
	drive(workflow.Define("order", 1, order), nil)
	// Output: RunCompleted "41 left"
}

func ExampleStepInAsync() {
	stock := warehouse{kept: map[string]journal.Payload{}}
	order := func(ctx workflow.Context, _ struct{}) (int, error) {
		taken := workflow.StepInAsync(ctx, "take", stock, func(ctx context.Context, tx *Ledger) (int, error) { return 1, nil }, nil)
		fmt.Println("ready:", taken.Ready())
		return taken.Get(ctx)
	}
	drive(workflow.Define("order", 1, order), nil)
	// Output:
	// ready: false
	// RunCompleted 1
}

func ExamplePushTx() {
	order := func(ctx workflow.Context, _ struct{}) (string, error) {
		return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
			workflow.PushTx(undo, "release", func(ctx context.Context, tx *Ledger) error {
				fmt.Println("released")
				return nil
			}, nil)
			return "", errors.New("out of stock")
		})
	}
	drive(workflow.Define("order", 1, order), nil)
	// Output:
	// released
	// RunFailed out of stock
}

func ExampleWithCancel() {
	hurry := func(ctx workflow.Context, _ struct{}) (string, error) {
		side, cancel := workflow.WithCancel(ctx)
		nap := workflow.NewTimer(side, time.Hour)
		cancel()
		err := nap.Get(ctx)
		return fmt.Sprint(errors.Is(err, workflow.ErrCancelled), " ", side.Cancelled(), " ", ctx.Err()), nil
	}
	drive(workflow.Define("hurry", 1, hurry), nil)
	// Output: RunCompleted "true true <nil>"
}

func ExampleOnFuture() {
	fetch := func(ctx workflow.Context, _ struct{}) (result string, err error) {
		page := workflow.StepAsync(ctx, "fetch", func(context.Context) (string, error) { return "page", nil }, nil)
		late := workflow.NewNamedTimer(ctx, "late", time.Minute)
		_, err = workflow.Select(ctx,
			workflow.OnFuture(page, func(v string, e error) { result = v }),
			workflow.OnTimer(late, func() { result = "nothing" }),
		)
		return fmt.Sprint(result, "; fired: ", late.Fired(), ", stopped: ", late.Stop()), err
	}
	drive(workflow.Define("fetch", 1, fetch), nil)
	// Output: RunCompleted "page; fired: false, stopped: true"
}

func ExampleDefault() {
	const Hint workflow.Signal[string] = "hint"
	look := func(ctx workflow.Context, _ struct{}) (string, error) {
		found := "nothing"
		_, err := workflow.Select(ctx,
			workflow.OnSignal(Hint, func(v string) { found = v }),
			workflow.Default(nil), // it does not wait
		)
		return fmt.Sprint(found, ", ", Hint.Pending(ctx), " left"), err
	}
	drive(workflow.Define("look", 1, look), nil)
	// Output: RunCompleted "nothing, 0 left"
}

func ExampleRandom() {
	draw := func(ctx workflow.Context, _ struct{}) (bool, error) {
		n := workflow.Random(ctx).IntN(6) // the same on every replay, as is the id
		id := workflow.UUID(ctx)
		return n < 6 && id.Version() == 4, nil
	}
	drive(workflow.Define("draw", 1, draw), nil)
	// Output: RunCompleted true
}

func ExampleWaitGroup() {
	both := func(ctx workflow.Context, _ struct{}) (string, error) {
		var wg workflow.WaitGroup
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			_ = workflow.Sleep(ctx, time.Second)
		})
		return "both", wg.Wait(ctx)
	}
	drive(workflow.Define("both", 1, both), nil)
	// Output: RunCompleted "both"
}

func ExampleLogger() {
	work := func(ctx workflow.Context, _ struct{}) (string, error) {
		log := workflow.Log(ctx)
		log.Debug("looking", "at", ctx.Now())
		log.Warn("this is odd")
		log.Error("this went wrong", "err", errors.New("no"))
		return "logged by the node, once", nil
	}
	drive(workflow.Define("work", 1, work), nil)
	// Output: RunCompleted "logged by the node, once"
}

func ExampleMutex_TryLock() {
	try := func(ctx workflow.Context, _ struct{}) (string, error) {
		var mu workflow.Mutex
		desks := workflow.NewSemaphore(2, "desks")
		text := fmt.Sprint(mu.TryLock(ctx), mu.TryLock(ctx))
		return text + fmt.Sprint(desks.TryAcquire(ctx, 2), desks.TryAcquire(ctx, 1)), nil
	}
	drive(workflow.Define("try", 1, try), nil)
	// Output: RunCompleted "true falsetrue false"
}

func ExampleChannel_TryReceive() {
	drain := func(ctx workflow.Context, _ struct{}) (int, error) {
		jobs := workflow.NewChannel[int](2, "jobs")
		if err := jobs.Send(ctx, 5); err != nil {
			return 0, err
		}
		jobs.Close()
		v, ok, err := jobs.TryReceive(ctx)
		fmt.Println(v, ok, err, jobs.Closed())
		return jobs.Len(), nil
	}
	drive(workflow.Define("drain", 1, drain), nil)
	// Output:
	// 5 true <nil> true
	// RunCompleted 0
}

func ExampleGroup_SetLimit() {
	crawl := func(ctx workflow.Context, pages int) (int, error) {
		group, ctx := workflow.NewGroup(ctx)
		group.SetLimit(2) // two at a time
		done := 0
		for range pages {
			group.Go(func(ctx workflow.Context) error {
				done++
				return workflow.Sleep(ctx, time.Second)
			})
		}
		err := group.Wait()
		return done, err
	}
	drive(workflow.Define("crawl", 1, crawl), 5)
	// Output: RunCompleted 5
}
