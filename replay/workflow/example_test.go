package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

var background = context.Background()

type Order struct {
	Item  string
	Price int
}

func Example() {
	const Checkout workflow.Name[Order, string] = "checkout"
	checkout := func(ctx workflow.Context, o Order) (string, error) {
		card, err := workflow.Step(ctx, "charge", func(ctx context.Context) (string, error) {
			return fmt.Sprintf("charged %d", o.Price), nil
		}, nil)
		if err != nil {
			return "", err
		}
		return o.Item + ": " + card, nil
	}
	drive(workflow.Define(Checkout, 1, checkout), Order{"book", 12})
	// Output: RunCompleted "book: charged 12"
}

func ExampleStep() {
	fetch := func(ctx workflow.Context, url string) (int, error) {
		return workflow.Step(ctx, "fetch", func(ctx context.Context) (int, error) {
			return len(url), nil
		}, &workflow.StepOptions{
			AttemptTimeout: 10 * time.Second,
			Retry:          &workflow.RetryPolicy{Initial: time.Minute, Attempts: 5},
		})
	}
	drive(workflow.Define("fetch", 1, fetch), "https://example.com")
	// Output: RunCompleted 19
}

func ExampleStepAsync() {
	both := func(ctx workflow.Context, _ struct{}) (int, error) {
		one := workflow.StepAsync(ctx, "one", func(context.Context) (int, error) { return 1, nil }, nil)
		two := workflow.StepAsync(ctx, "two", func(context.Context) (int, error) { return 2, nil }, nil)
		a, err := one.Get(ctx)
		if err != nil {
			return 0, err
		}
		b, err := two.Get(ctx)
		return a + b, err
	}
	drive(workflow.Define("both", 1, both), nil)
	// Output: RunCompleted 3
}

func ExampleStepTx() {
	// Ledger stands for pgx.Tx here.
	book := func(ctx workflow.Context, entry string) (int, error) {
		return workflow.StepTx(ctx, "book", func(ctx context.Context, tx *Ledger) (int, error) {
			tx.entries = append(tx.entries, entry)
			return len(tx.entries), nil
		}, nil)
	}
	drive(workflow.Define("book", 1, book), "rent")
	// Output: RunCompleted 1
}

func ExamplePermanent() {
	pay := func(ctx workflow.Context, _ struct{}) (string, error) {
		_, err := workflow.Step(ctx, "pay", func(context.Context) (string, error) {
			return "", workflow.Permanent(errors.New("card is stolen"))
		}, nil)
		var failed *workflow.StepError
		if errors.As(err, &failed) {
			return fmt.Sprintf("%s; permanent: %v", failed.Message(), failed.Permanent()), nil
		}
		return "", err
	}
	drive(workflow.Define("pay", 1, pay), nil)
	// Output: RunCompleted "card is stolen; permanent: true"
}

func ExampleSleep() {
	remind := func(ctx workflow.Context, _ struct{}) (string, error) {
		began := ctx.Now()
		if err := workflow.Sleep(ctx, 30*24*time.Hour); err != nil {
			return "", err
		}
		return ctx.Now().Sub(began).String(), nil
	}
	drive(workflow.Define("remind", 1, remind), nil)
	// Output: RunCompleted "720h0m0s"
}

func ExampleSignal_ReceiveTimeout() {
	const Approved workflow.Signal[string] = "approved"
	ask := func(ctx workflow.Context, _ struct{}) (string, error) {
		by, ok, err := Approved.ReceiveTimeout(ctx, 24*time.Hour)
		if err != nil {
			return "", err
		}
		if !ok {
			return "nobody answered", nil
		}
		return "approved by " + by, nil
	}
	drive(workflow.Define("ask", 1, ask), nil)
	drive(workflow.Define("ask", 1, ask), nil, occurrence{signal: "approved", payload: "ops"})
	// Output:
	// RunCompleted "nobody answered"
	// RunCompleted "approved by ops"
}

func ExampleSelect() {
	const Stop workflow.Signal[struct{}] = "stop"
	watch := func(ctx workflow.Context, _ struct{}) (string, error) {
		result := ""
		tick := workflow.NewTimer(ctx, time.Hour)
		_, err := workflow.Select(ctx,
			workflow.OnSignal(Stop, func(struct{}) { result = "stopped" }),
			workflow.OnTimer(tick, func() { result = "time is up" }),
		)
		return result, err
	}
	drive(workflow.Define("watch", 1, watch), nil, occurrence{signal: "stop"})
	drive(workflow.Define("watch", 1, watch), nil)
	// Output:
	// RunCompleted "stopped"
	// RunCompleted "time is up"
}

func ExampleGo() {
	squares := func(ctx workflow.Context, numbers []int) (int, error) {
		sum := 0
		var wg workflow.WaitGroup
		for _, n := range numbers {
			wg.Go(ctx, func(ctx workflow.Context) {
				square, err := workflow.Step(ctx, "square", func(context.Context) (int, error) { return n * n, nil }, nil)
				if err == nil {
					sum += square // strands run one at a time: no lock
				}
			})
		}
		return sum, wg.Wait(ctx)
	}
	drive(workflow.Define("squares", 1, squares), []int{1, 2, 3})
	// Output: RunCompleted 14
}

func ExampleSaga() {
	trip := func(ctx workflow.Context, _ struct{}) (string, error) {
		return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
			for _, what := range []string{"hotel", "flight", "car"} {
				_, err := workflow.Step(ctx, "book "+what, func(context.Context) (string, error) {
					if what == "car" {
						return "", workflow.Permanent(errors.New("no cars left"))
					}
					return what, nil
				}, nil)
				if err != nil {
					return "", err
				}
				undo.Push("cancel "+what, func(context.Context) error {
					fmt.Println("cancelling the", what)
					return nil
				}, nil)
			}
			return "booked", nil
		})
	}
	drive(workflow.Define("trip", 1, trip), nil)
	// Output:
	// cancelling the flight
	// cancelling the hotel
	// RunFailed no cars left
}

func ExampleShield() {
	job := func(ctx workflow.Context, _ struct{}) (_ string, err error) {
		defer func() {
			if errors.Is(err, workflow.ErrCancelled) {
				_, _ = workflow.Step(workflow.Shield(ctx), "tidy up", func(context.Context) (string, error) {
					fmt.Println("tidying up")
					return "", nil
				}, nil)
			}
		}()
		return "done", workflow.Sleep(ctx, time.Hour)
	}
	drive(workflow.Define("job", 1, job), nil, occurrence{cancel: true})
	// Output:
	// tidying up
	// RunCancelled cancelled
}

func ExampleWithTimeout() {
	const Answer workflow.Signal[int] = "answer"
	ask := func(ctx workflow.Context, _ struct{}) (string, error) {
		limited, cancel := workflow.WithTimeout(ctx, time.Minute)
		defer cancel()
		if _, err := Answer.Receive(limited); errors.Is(err, workflow.ErrTimeout) {
			return "no answer", nil
		}
		return "answered", nil
	}
	drive(workflow.Define("ask", 1, ask), nil)
	// Output: RunCompleted "no answer"
}

func ExampleIdempotencyKey() {
	pay := func(ctx workflow.Context, _ struct{}) (string, error) {
		return workflow.Step(ctx, "pay", func(ctx context.Context) (string, error) {
			return workflow.IdempotencyKey(ctx), nil // goes into the request to the bank
		}, nil)
	}
	drive(workflow.Define("pay", 1, pay), nil)
	// Output: RunCompleted "01000000-0000-0000-0000-000000000000/1/1"
}
