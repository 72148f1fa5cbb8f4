package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// Cart is the input of an order.
type Cart struct {
	Customer string
	Items    []string
	Cents    int
}

const (
	Order    workflow.Name[Cart, flow.Results] = "order"
	Approved workflow.Signal[string]           = "approved"
)

// declare declares the order, with the node by which it ends. What the functions of its nodes do is
// to return a text; yours would call somebody.
func declare() (*flow.Flow[Cart], *flow.Node[string]) {
	f := flow.New(Order, nil)
	cart := f.Input()

	// A step takes one typed value. What it takes is an edge: nothing else can be read.
	paid := flow.Step(f, "charge", cart, charge, nil).Undo(refund, nil)

	// A step for each item, at most ten at once.
	parcels := flow.Map(f, "pack", flow.Apply(cart, func(c Cart) []string { return c.Items }), pack, &flow.Options{Window: 10}).After(paid)

	// A node with a condition is skipped if it does not hold.
	card := flow.Step(f, "card", cart, write, &flow.Options{
		If: []flow.Condition{flow.When(cart, func(c Cart) bool { return len(c.Items) > 1 }).Named("several items")},
	}).After(paid)

	// A large order waits for a person, and a small one does not.
	approved := flow.Wait(f, "approval", Approved, &flow.Options{
		If: []flow.Condition{flow.When(cart, func(c Cart) bool { return c.Cents > 10_000 }).Named("it is large")},
	}).After(paid)

	// What may have been skipped is taken by Or or Maybe: else the declaration is refused.
	shipment := flow.Join(parcels, flow.Or(card, "no card"), func(parcels []string, card string) string {
		return strings.Join(parcels, ", ") + " and " + card
	})
	shipped := flow.Step(f, "ship", shipment, ship, nil).After(approved)
	return f, shipped
}

func charge(ctx context.Context, c Cart) (string, error) {
	return fmt.Sprintf("receipt for %s over %d", c.Customer, c.Cents), nil // with flow.IdempotencyKey(ctx)
}

func refund(_ context.Context, receipt string) error {
	fmt.Println("refunded:", receipt)
	return nil
}

func pack(_ context.Context, item string) (string, error) { return "a parcel of " + item, nil }

func write(_ context.Context, c Cart) (string, error) { return "a card for " + c.Customer, nil }

func ship(_ context.Context, what string) (string, error) { return "shipped " + what, nil }
