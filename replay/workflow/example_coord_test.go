package workflow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

func ExampleChannel() {
	pipeline := func(ctx workflow.Context, orders []string) (int, error) {
		packed := workflow.NewChannel[string](2, "packed")
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer packed.Close()
			for _, order := range orders {
				if err := packed.Send(ctx, order+" in a box"); err != nil {
					return
				}
			}
		})
		sent := 0
		for {
			parcel, ok, err := packed.Receive(ctx)
			if err != nil || !ok {
				return sent, err
			}
			fmt.Println("sending", parcel)
			sent++
		}
	}
	drive(workflow.Define("pipeline", 1, pipeline), []string{"book", "pen", "lamp"})
	// Output:
	// sending book in a box
	// sending pen in a box
	// sending lamp in a box
	// RunCompleted 3
}

func ExampleChannel_TrySend() {
	queue := func(ctx workflow.Context, _ struct{}) (int, error) {
		jobs := workflow.NewChannel[int](2, "jobs")
		for i := range 5 {
			ok, err := jobs.TrySend(ctx, i)
			if err != nil || !ok {
				break // full
			}
		}
		return jobs.Len(), nil
	}
	drive(workflow.Define("queue", 1, queue), nil)
	// Output: RunCompleted 2
}

func ExampleOnReceive() {
	watch := func(ctx workflow.Context, _ struct{}) (string, error) {
		results := workflow.NewChannel[string](0, "results")
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = workflow.Sleep(ctx, time.Minute)
			_ = results.Send(ctx, "here it is")
		})
		answer := ""
		_, err := workflow.Select(ctx,
			workflow.OnReceive(results, func(v string, ok bool) { answer = v }),
			workflow.OnTimer(workflow.NewTimer(ctx, time.Hour), func() { answer = "too late" }),
		)
		return answer, err
	}
	drive(workflow.Define("watch", 1, watch), nil)
	// Output: RunCompleted "here it is"
}

func ExampleOnSend() {
	offer := func(ctx workflow.Context, _ struct{}) (string, error) {
		tickets := workflow.NewChannel[int](0, "tickets") // nobody receives
		result := ""
		_, err := workflow.Select(ctx,
			workflow.OnSend(tickets, 1, func() { result = "taken" }),
			workflow.OnTimer(workflow.NewTimer(ctx, time.Hour), func() { result = "nobody wants it" }),
		)
		return result, err
	}
	drive(workflow.Define("offer", 1, offer), nil)
	// Output: RunCompleted "nobody wants it"
}

func ExampleAwait() {
	const Vote workflow.Signal[bool] = "vote"
	poll := func(ctx workflow.Context, quorum int) (string, error) {
		yes, no := 0, 0
		workflow.Go(ctx, func(ctx workflow.Context) {
			for {
				v, err := Vote.Receive(ctx)
				switch {
				case err != nil:
					return
				case v:
					yes++
				default:
					no++
				}
			}
		})
		if err := workflow.Await(ctx, func() bool { return yes+no >= quorum }); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d : %d", yes, no), nil
	}
	vote := func(yes bool) occurrence { return occurrence{signal: "vote", payload: yes} }
	drive(workflow.Define("poll", 1, poll), 3, vote(true), vote(false), vote(true))
	// Output: RunCompleted "2 : 1"
}

func ExampleAwaitTimeout() {
	check := func(ctx workflow.Context, _ struct{}) (bool, error) {
		done := false
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = workflow.Sleep(ctx, time.Hour)
			done = true
		})
		return workflow.AwaitTimeout(ctx, time.Minute, func() bool { return done })
	}
	drive(workflow.Define("check", 1, check), nil)
	// Output: RunCompleted false
}

func ExampleMutex() {
	transfers := func(ctx workflow.Context, _ struct{}) (int, error) {
		account := workflow.Mutex{Name: "account"}
		balance := 100
		group, _ := workflow.NewGroup(ctx)
		for range 3 {
			group.Go(func(ctx workflow.Context) error {
				if err := account.Lock(ctx); err != nil {
					return err
				}
				defer account.Unlock()
				before := balance
				fee, err := workflow.Step(ctx, "ask for the fee", func(context.Context) (int, error) { return 10, nil }, nil)
				balance = before - fee // no other strand has changed it meanwhile
				return err
			})
		}
		err := group.Wait()
		return balance, err
	}
	drive(workflow.Define("transfers", 1, transfers), nil)
	// Output: RunCompleted 70
}

func ExampleSemaphore() {
	uploads := func(ctx workflow.Context, sizes []int) (int, error) {
		bandwidth := workflow.NewSemaphore(10, "bandwidth")
		group, _ := workflow.NewGroup(ctx)
		total := 0
		for _, size := range sizes {
			group.Go(func(ctx workflow.Context) error {
				if err := bandwidth.Acquire(ctx, size); err != nil {
					return err
				}
				defer bandwidth.Release(size)
				n, err := workflow.Step(ctx, "upload", func(context.Context) (int, error) { return size, nil }, nil)
				total += n
				return err
			})
		}
		err := group.Wait()
		return total, err
	}
	drive(workflow.Define("uploads", 1, uploads), []int{4, 8, 2})
	// Output: RunCompleted 14
}

func ExamplePromise() {
	const Price workflow.Signal[int] = "price"
	buy := func(ctx workflow.Context, _ struct{}) (int, error) {
		price := workflow.NewPromise[int]()
		workflow.Go(ctx, func(ctx workflow.Context) {
			if v, err := Price.Receive(ctx); err != nil {
				price.Fail(err)
			} else {
				price.Resolve(v)
			}
		})
		return price.Future().Get(ctx) // so could any number of strands
	}
	drive(workflow.Define("buy", 1, buy), nil, occurrence{signal: "price", payload: 12})
	// Output: RunCompleted 12
}

func ExampleLog() {
	greet := func(ctx workflow.Context, name string) (string, error) {
		workflow.Log(ctx).Info("somebody is greeted", "name", name) // not again on replay
		return "hello " + name, nil
	}
	drive(workflow.Define("greet", 1, greet), "Ada")
	// Output: RunCompleted "hello Ada"
}
