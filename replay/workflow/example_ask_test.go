package workflow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

func ExampleQuery_Handle() {
	const Progress workflow.Query[string, string] = "progress"
	work := func(ctx workflow.Context, _ struct{}) (string, error) {
		done := 0
		Progress.Handle(ctx, func(unit string) (string, error) { return fmt.Sprint(done, " ", unit), nil })
		for ; done < 3; done++ {
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				return "", err
			}
		}
		return "done", nil
	}
	drive(workflow.Define("work", 1, work), nil, occurrence{query: "progress", payload: "pages"})
	// Output:
	// answer: "0 pages" <nil>
	// RunCompleted "done"
}

func ExamplePublish() {
	work := func(ctx workflow.Context, pages int) (string, error) {
		for done := range pages {
			workflow.Publish(ctx, "progress", fmt.Sprint(done, " of ", pages))
			if err := workflow.Sleep(ctx, time.Hour); err != nil {
				return "", err
			}
		}
		return "done", nil // the last value stays, and runtime.Published reads it
	}
	drive(workflow.Define("work", 1, work), 2)
	// Output:
	// published: progress "0 of 2"
	// published: progress "1 of 2"
	// RunCompleted "done"
}

func ExampleSetLabels() {
	order := func(ctx workflow.Context, country string) (string, error) {
		workflow.SetLabels(ctx, map[string]string{"stage": "unpaid", "country": country})
		if err := workflow.Sleep(ctx, time.Hour); err != nil {
			return "", err
		}
		workflow.SetLabels(ctx, map[string]string{"stage": "paid"})
		return "done", nil
	}
	drive(workflow.Define("order", 1, order), "NZ")
	// Output:
	// label: country = NZ
	// label: stage = unpaid
	// label: stage = paid
	// RunCompleted "done"
}

func ExampleRemoveLabels() {
	ticket := func(ctx workflow.Context, _ struct{}) (string, error) {
		workflow.SetLabels(ctx, map[string]string{"urgent": "yes"})
		if err := workflow.Sleep(ctx, time.Hour); err != nil {
			return "", err
		}
		workflow.RemoveLabels(ctx, "urgent")
		return "done", nil
	}
	drive(workflow.Define("ticket", 1, ticket), nil)
	// Output:
	// label: urgent = yes
	// no label: urgent
	// RunCompleted "done"
}

func ExampleUpdate_Handle() {
	const Deposit workflow.Update[int, int] = "deposit"
	const Close workflow.Signal[struct{}] = "close"
	account := func(ctx workflow.Context, balance int) (int, error) {
		Deposit.Handle(ctx, func(ctx workflow.Context, amount int) (int, error) {
			balance += amount
			return balance, nil
		}, &workflow.UpdateOptions[int]{Validate: func(amount int) error {
			if amount <= 0 {
				return errors.New("an amount is positive")
			}
			return nil
		}})
		_, err := Close.Receive(ctx)
		return balance, err
	}
	drive(workflow.Define("account", 1, account), 10, occurrence{update: "deposit", payload: 5},
		occurrence{update: "deposit", payload: -1}, occurrence{signal: "close"})
	// Output:
	// reply: 15
	// rejected: an amount is positive
	// RunCompleted 15
}

func ExampleHandlersFinished() {
	const Print workflow.Update[string, string] = "print"
	const Close workflow.Signal[struct{}] = "close"
	printer := func(ctx workflow.Context, _ struct{}) (string, error) {
		Print.Handle(ctx, func(ctx workflow.Context, page string) (string, error) {
			return page + " printed", workflow.Sleep(ctx, time.Minute)
		}, nil)
		if _, err := Close.Receive(ctx); err != nil {
			return "", err
		}
		return "off", workflow.HandlersFinished(ctx) // nobody who called is left without a reply
	}
	drive(workflow.Define("printer", 1, printer), nil, occurrence{update: "print", payload: "page 1"}, occurrence{signal: "close"})
	// Output:
	// reply: "page 1 printed"
	// RunCompleted "off"
}

func ExampleSideEffect() {
	configured := "blue"
	paint := func(ctx workflow.Context, _ struct{}) (string, error) {
		color := workflow.SideEffect(ctx, "color", func() string { return configured })
		return "painted " + color, nil // the same color after a crash
	}
	drive(workflow.Define("paint", 1, paint), nil)
	// Output: RunCompleted "painted blue"
}

func ExampleSideEffectIfChanged() {
	limit := 10
	poll := func(ctx workflow.Context, _ struct{}) ([]int, error) {
		var seen []int
		for i := range 4 {
			if i == 2 {
				limit = 20 // somebody changes the configuration
			}
			seen = append(seen, workflow.SideEffectIfChanged(ctx, "limit", func() int { return limit }, func(a, b int) bool { return a == b }))
		}
		return seen, nil // the history holds two values
	}
	drive(workflow.Define("poll", 1, poll), nil)
	// Output: RunCompleted [10,10,20,20]
}

func ExampleChanged() {
	pay := func(ctx workflow.Context, _ struct{}) (string, error) {
		if workflow.Changed(ctx, "ask the bank first") {
			return "asked the bank", nil
		}
		return "paid at once", nil // runs that were here before the change
	}
	drive(workflow.Define("pay", 1, pay), nil)
	// Output: RunCompleted "asked the bank"
}

func ExampleChangeScope() {
	remind := func(ctx workflow.Context, times int) (string, error) {
		text := ""
		for range times {
			turn := workflow.ChangeScope(ctx) // a run on its way takes the new branch from its next turn on
			if workflow.Changed(turn, "be polite") {
				text += "please "
			}
			if err := workflow.Sleep(turn, time.Hour); err != nil {
				return "", err
			}
		}
		return text + "pay", nil
	}
	drive(workflow.Define("remind", 1, remind), 2)
	// Output: RunCompleted "please please pay"
}
