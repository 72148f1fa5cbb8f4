package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// ask is a step that answers with its name, or fails if that is "down".
func ask(ctx workflow.Context, name string) workflow.Future[string] {
	return workflow.StepAsync(ctx, "ask "+name, func(context.Context) (string, error) {
		if name == "down" {
			return "", workflow.Permanent(errors.New("no connection"))
		}
		return "greetings from " + name, nil
	}, nil)
}

func ExampleGroup() {
	trip := func(ctx workflow.Context, legs []string) (int, error) {
		booked := 0
		group, _ := workflow.NewGroup(ctx)
		for _, leg := range legs {
			group.Go(func(ctx workflow.Context) error {
				_, err := workflow.Step(ctx, "book "+leg, func(context.Context) (string, error) {
					if leg == "ferry" {
						return "", workflow.Permanent(errors.New("no ferry today"))
					}
					return leg, nil
				}, nil)
				if err == nil {
					booked++
				}
				return err
			})
		}
		err := group.Wait()
		return booked, err
	}
	drive(workflow.Define("trip", 1, trip), []string{"train", "bus"})
	drive(workflow.Define("trip", 1, trip), []string{"train", "ferry"})
	// Output:
	// RunCompleted 2
	// RunFailed no ferry today
}

func ExampleFirst() {
	fastest := func(ctx workflow.Context, _ struct{}) (string, error) {
		_, answer, err := workflow.First(ctx, ask(ctx, "north"), ask(ctx, "south"))
		return answer, err
	}
	drive(workflow.Define("fastest", 1, fastest), nil)
	// Output: RunCompleted "greetings from north"
}

func ExampleFirstSuccess() {
	anybody := func(ctx workflow.Context, servers []string) (string, error) {
		var asked []workflow.Future[string]
		for _, s := range servers {
			asked = append(asked, ask(ctx, s))
		}
		i, answer, err := workflow.FirstSuccess(ctx, asked...)
		return fmt.Sprintf("%d: %s", i, answer), err
	}
	drive(workflow.Define("anybody", 1, anybody), []string{"down", "south"})
	drive(workflow.Define("anybody", 1, anybody), []string{"down", "down"})
	// Output:
	// RunCompleted "1: greetings from south"
	// RunFailed step ask down: no connection
	// step ask down: no connection
}

func ExampleAll() {
	everybody := func(ctx workflow.Context, _ struct{}) ([]string, error) {
		return workflow.All(ctx, ask(ctx, "north"), ask(ctx, "south"))
	}
	drive(workflow.Define("everybody", 1, everybody), nil)
	// Output: RunCompleted ["greetings from north","greetings from south"]
}

func ExampleRace() {
	const Confirmed workflow.Signal[string] = "confirmed"
	confirm := func(ctx workflow.Context, _ struct{}) (string, error) {
		_, how, err := workflow.Race(ctx,
			func(ctx workflow.Context) (string, error) { return Confirmed.Receive(ctx) },
			func(ctx workflow.Context) (string, error) {
				for range 3 {
					if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
						return "", err // the other one has won
					}
				}
				return "nobody said no for three days", nil
			})
		return how, err
	}
	drive(workflow.Define("confirm", 1, confirm), nil)
	drive(workflow.Define("confirm", 1, confirm), nil, occurrence{signal: "confirmed", payload: "by phone"})
	// Output:
	// RunCompleted "nobody said no for three days"
	// RunCompleted "by phone"
}

func ExampleMap() {
	resize := func(ctx workflow.Context, pictures []string) ([]string, error) {
		return workflow.Map(ctx, pictures, func(ctx workflow.Context, picture string) (string, error) {
			return workflow.Step(ctx, "resize", func(context.Context) (string, error) { return "small " + picture, nil }, nil)
		}, &workflow.MapOptions{Limit: 2})
	}
	drive(workflow.Define("resize", 1, resize), []string{"cat", "dog", "fox"})
	// Output: RunCompleted ["small cat","small dog","small fox"]
}

func ExampleMapOptions() {
	deliver := func(ctx workflow.Context, parcels []string) ([]string, error) {
		tries := map[string]int{}
		return workflow.Map(ctx, parcels, func(ctx workflow.Context, parcel string) (string, error) {
			switch tries[parcel]++; {
			case parcel == "vase":
				return "", workflow.Permanent(errors.New("broken"))
			case parcel == "book" && tries[parcel] < 3:
				return "", errors.New("nobody at home")
			}
			return parcel + " delivered", nil
		}, &workflow.MapOptions{Attempts: 5, Backoff: 24 * time.Hour, CollectErrors: true})
	}
	drive(workflow.Define("deliver", 1, deliver), []string{"book", "lamp"})
	drive(workflow.Define("deliver", 1, deliver), []string{"vase", "lamp"})
	// Output:
	// RunCompleted ["book delivered","lamp delivered"]
	// RunFailed item 0: broken
}
