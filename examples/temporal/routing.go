package temporal

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// An Order is routed by its content: each kind of item has a step of its own, all at the same time,
// and a child in the queue of the region sends the parcel, on whichever nodes serve that queue.
const (
	Orders workflow.Name[Order, string]  = "order"
	Parcel workflow.Name[string, string] = "order.parcel"
)

// Order is a list of items.
type Order struct {
	Region string
	Items  []string // kinds of fruit
}

// pickers are the steps by kind.
type pickers map[string]func(context.Context) (string, error)

func (p pickers) order(ctx workflow.Context, o Order) (string, error) {
	var picked []workflow.Future[string]
	for _, kind := range o.Items {
		pick, ok := p[kind]
		if !ok {
			return "", fmt.Errorf("nobody picks %q", kind)
		}
		picked = append(picked, workflow.StepAsync(ctx, "pick "+kind, pick, nil))
	}
	all, err := workflow.All(ctx, picked...)
	if err != nil {
		return "", err
	}
	return workflow.Call(ctx, Parcel, fmt.Sprint(all), &workflow.ChildOptions{Queue: o.Region})
}

func parcel(ctx workflow.Context, what string) (string, error) {
	queue := ctx.Info().Queue
	return workflow.Step(ctx, "send", func(context.Context) (string, error) { return queue + " sent " + what, nil }, nil)
}
