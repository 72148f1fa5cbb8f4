package schedule_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

const invoice workflow.Name[string, string] = "invoice"

// A set is applied, and one of its schedules is triggered ahead of its time.
func ExampleApply() {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
	schedule.Handle(node)
	runtime.Handle(node, invoice, func(_ workflow.Context, who string) (string, error) { return "invoices of " + who, nil }, nil)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()

	applied, err := schedule.Apply(ctx, node.Client(), schedule.Set{Schedules: []schedule.Schedule{{
		Name:  "invoices",
		Spec:  calendar.Spec{On: []calendar.Fields{{Day: "L", Hour: "18"}}, Zone: "Europe/Berlin"},
		Start: schedule.StartOf(invoice, "shop 7"),
	}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	changes, err := applied.Wait(ctx)
	fmt.Println("added:", changes.Added, err)

	key, err := schedule.Trigger(ctx, node.Client(), "invoices", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := node.Client().FindKey(ctx, key)
	for errors.Is(err, journal.ErrNotFound) { // the schedule hears of it in a moment
		run, err = node.Client().FindKey(ctx, key)
	}
	fmt.Println(runtime.RunOf(node.Client(), invoice, run).Result(ctx))
	stop()
	<-ended
	// Output:
	// added: [invoices] <nil>
	// invoices of shop 7 <nil>
}
