package replaytest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	Leave   workflow.Name[int, string] = "leave"
	Granted workflow.Signal[bool]      = "granted"
)

// leave asks a manager for some days off.
func leave(ctx workflow.Context, days int) (string, error) {
	ask := func(context.Context) (string, error) { return "mail-1", nil }
	if _, err := workflow.Step(ctx, "ask", ask, nil); err != nil {
		return "", err
	}
	yes, ok, err := Granted.ReceiveTimeout(ctx, 48*time.Hour)
	if err != nil || !ok || !yes {
		return "not granted", err
	}
	return workflow.Step(ctx, "book", func(context.Context) (string, error) { return fmt.Sprint(days, " days"), nil }, nil)
}

func ExampleRecord() {
	var code replaytest.Registry
	replaytest.Handle(&code, Leave, leave, nil)
	h, err := replaytest.Record(&code, `
		run leave 3
		completed ask "mail-1"
		+5h signal granted true
		completed book "3 days"
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(h)
	// Output:
	// 1 RunStarted > step ask
	// 2 StepCompleted ask > timer granted
	// 3 SignalReceived granted > cancel 2, step book
	// 4 StepCompleted book
	// 5 RunCompleted
}

func ExampleMarshal() {
	var code replaytest.Registry
	replaytest.Handle(&code, Leave, leave, nil)
	h, err := replaytest.Record(&code, "run leave 3\ncompleted ask \"mail-1\"\nfired")
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := replaytest.Marshal(h)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", data)
	// Output:
	// {
	//  "format": 1,
	//  "run": {"id":"019b76da-a800-7000-8000-000000000001","workflow":"leave","version":1,"queue":"default","startAt":"2026-01-01T00:00:00Z","generation":1,"input":{"json":3}},
	//  "events": [
	//   {"seq":1,"kind":"RunStarted","time":"2026-01-01T00:00:00Z","issued":["step ask"],"link":"e4148ba6f07fbad3"},
	//   {"seq":2,"kind":"StepCompleted","time":"2026-01-01T00:00:01Z","cmd":1,"name":"ask","attempt":1,"payload":{"json":"mail-1"},"issued":["timer 2026-01-03T00:00:01Z granted"],"link":"4ccb27419870a925"},
	//   {"seq":3,"kind":"TimerFired","time":"2026-01-03T00:00:01Z","cmd":2,"name":"granted","link":"b72b966ebb5c3155"},
	//   {"seq":4,"kind":"RunCompleted","time":"2026-01-03T00:00:01Z","payload":{"json":"not granted"},"link":"81fb1be4dfc9e369"}
	//  ]
	// }
}

// A run began with leave as it is above. The next release checks the budget first.
func ExampleCheck() {
	var code replaytest.Registry
	replaytest.Handle(&code, Leave, leave, nil)
	h, err := replaytest.Record(&code, "run leave 3\ncompleted ask \"mail-1\"\n+1h signal granted true")
	if err != nil {
		fmt.Println(err)
		return
	}
	var next replaytest.Registry
	replaytest.Handle(&next, Leave, func(ctx workflow.Context, days int) (string, error) {
		if _, err := workflow.Step(ctx, "check budget", func(context.Context) (int, error) { return 30, nil }, nil); err != nil {
			return "", err
		}
		return leave(ctx, days)
	}, nil)
	fmt.Println(replaytest.Check(&code, h))
	var m *replaytest.Mismatch
	if errors.As(replaytest.Check(&next, h), &m) {
		fmt.Printf("event %d: history has %s, code has %s\n", m.Seq, m.Want, m.Got)
	}
	// Output:
	// <nil>
	// event 1: history has step ask, code has step check budget
}
