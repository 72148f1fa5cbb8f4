package flow_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// Cart is what an order of the examples is made of.
type Cart struct {
	Customer string
	Items    []string
	Cents    int
}

func charge(_ context.Context, cents int) (string, error) {
	return fmt.Sprint("receipt over ", cents), nil
}

func pack(_ context.Context, item string) (string, error) { return "parcel of " + item, nil }

func itemsOf(c Cart) []string { return c.Items }

func centsOf(c Cart) int { return c.Cents }

// show runs a flow as a test does, and prints its output or its error.
func show[In any](f *flow.Flow[In], in In) { showWith(f, in, nil) }

func showWith[In any](f *flow.Flow[In], in In, do func(e *runtimetest.Env, run journal.RunID)) {
	for name, value := range map[string]string{"test.v": "false", "test.count": "1", "test.skip": ""} {
		before := flag.Lookup(name).Value.String()
		defer flag.Set(name, before)
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Example", F: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, f.Name(), f.Build(), nil)
			run := runtimetest.Start(e, f.Name(), in, nil)
			if do != nil {
				do(e, run.ID())
			}
			out, err := run.Result()
			if failed := new(flow.NodeError); errors.As(err, &failed) {
				fmt.Println(failed)
				return
			}
			fmt.Println(asJSON(out))
		})
	}}})
}

func Example() {
	const Order workflow.Name[Cart, flow.Results] = "order"

	f := flow.New(Order, nil)
	paid := flow.Step(f, "charge", flow.Apply(f.Input(), centsOf), charge, nil)
	parcels := flow.Map(f, "pack", flow.Apply(f.Input(), itemsOf), pack, nil)
	shipment := flow.Join(paid, parcels, func(receipt string, parcels []string) string {
		return fmt.Sprintf("%v with a %s", parcels, receipt)
	})
	flow.Step(f, "ship", shipment, func(_ context.Context, what string) (string, error) { return "shipped " + what, nil }, nil)

	fmt.Print(f.Shape().Mermaid())
	show(f, Cart{"Ann", []string{"tea", "cups"}, 1290})
	// Output:
	// flowchart TD
	//     n0["charge"]
	//     n1[["pack (each item)"]]
	//     n2["ship"]
	//     n0 --> n2
	//     n1 --> n2
	// {"ship":"shipped [parcel of tea parcel of cups] with a receipt over 1290"}
}

func ExampleMap() {
	f := flow.New[Cart]("map", nil)
	flow.Map(f, "pack", flow.Apply(f.Input(), itemsOf), func(ctx context.Context, item string) (string, error) {
		i, _ := flow.Item(ctx)
		return fmt.Sprintf("parcel %d: %s", i+1, item), nil
	}, &flow.Options{Chunk: 100, Window: 10}) // a step for 100 items, 10 steps at once
	show(f, Cart{Items: []string{"tea", "cups"}})
	show(f, Cart{Items: []string{}})
	// Output:
	// {"pack":["parcel 1: tea","parcel 2: cups"]}
	// {"pack":[]}
}

func ExampleOptions() {
	f := flow.New[Cart]("conditions", nil)
	gift := flow.Step(f, "gift", f.Input(), func(_ context.Context, c Cart) (string, error) { return "a card for " + c.Customer, nil },
		&flow.Options{If: []flow.Condition{flow.When(f.Input(), func(c Cart) bool { return c.Cents > 5000 }).Named("it is large")}})
	flow.Step(f, "check", f.Input(), func(context.Context, Cart) (string, error) { return "", workflow.Permanent(errors.New("no answer")) },
		&flow.Options{Exhausted: flow.Skip})
	flow.Step(f, "ship", flow.Or(gift, "no card"), func(_ context.Context, card string) (string, error) { return "with " + card, nil }, nil)
	show(f, Cart{Customer: "Ann", Cents: 9900})
	show(f, Cart{Customer: "Bob", Cents: 1290})
	// Output:
	// {"ship":"with a card for Ann"}
	// {"ship":"with no card"}
}

func ExampleContains() {
	f := flow.New[map[string]any]("pattern", nil)
	echo := func(_ context.Context, in map[string]any) (any, error) { return in["plan"], nil }
	eu := flow.Contains(f.Input(), map[string]string{"region": "eu"})
	flow.Step(f, "here", f.Input(), echo, &flow.Options{If: []flow.Condition{eu}})
	flow.Step(f, "there", f.Input(), echo, &flow.Options{If: []flow.Condition{flow.Not(eu)}})
	show(f, map[string]any{"region": "eu", "plan": "large"})
	show(f, map[string]any{"region": "us", "plan": "small"})
	// Output:
	// {"here":"large"}
	// {"there":"small"}
}

func ExampleGather() {
	f := flow.New[int]("gather", nil)
	odd := flow.Step(f, "odd", f.Input(), pass, &flow.Options{If: []flow.Condition{flow.When(f.Input(), func(i int) bool { return i%2 == 1 })}})
	even := flow.Step(f, "even", f.Input(), pass, &flow.Options{If: []flow.Condition{flow.Skipped(odd)}})
	flow.Step(f, "last", flow.Gather(odd, even), func(_ context.Context, r flow.Results) (string, error) {
		_, isOdd, err := odd.In(r) // a node that was skipped has no key
		return fmt.Sprint("odd: ", isOdd), err
	}, nil)
	show(f, 6)
	// Output: {"last":"odd: false"}
}

func ExampleAll() {
	f := flow.New[int]("all", nil)
	a := flow.Step(f, "a", f.Input(), pass, nil)
	b := flow.Step(f, "b", f.Input(), pass, nil)
	sum := flow.Step(f, "sum", flow.All(a, b), func(_ context.Context, list []int) (int, error) { return list[0] + list[1], nil }, nil)
	flow.Step(f, "mail", flow.Maybe(sum), func(_ context.Context, v flow.Optional[int]) (bool, error) { return v.OK, nil }, nil).After(a)
	show(f, 21)
	// Output: {"mail":true}
}

func ExampleAs() {
	f := flow.New[string]("as", nil)
	answer := flow.Step(f, "ask", f.Input(), func(_ context.Context, url string) (any, error) {
		return map[string]any{"error": "no list today"}, nil // a server that gives what it likes
	}, nil)
	flow.Map(f, "each", flow.As[[]int](answer), pass, nil)
	show(f, "https://example.org")
	// Output: node each: node ask gave an object instead of a list: {"error":"no list today"}
}

func ExampleWait() {
	const Approved workflow.Signal[string] = "approved"
	f := flow.New[int]("approval", nil)
	cool := flow.Sleep(f, "cool-down", time.Hour, nil)
	by := flow.Wait(f, "approval", Approved, &flow.Options{Timeout: 48 * time.Hour, Exhausted: flow.Skip}).After(cool)
	due := flow.Until(f, "due", flow.Apply(f.Input(), func(day int) time.Time { return time.Unix(int64(day)*86400, 0) }), nil)
	flow.Step(f, "book", flow.Or(by, "nobody"), func(_ context.Context, who string) (string, error) { return "booked for " + who, nil }, nil).After(due)
	showWith(f, 0, func(e *runtimetest.Env, run journal.RunID) { runtimetest.Signal(e, run, Approved, "Ann", nil) })
	// Output: {"book":"booked for Ann"}
}

func ExampleNode_Undo() {
	refund := func(_ context.Context, receipt string) error {
		fmt.Println("refund of", receipt)
		return nil
	}
	f := flow.New[int]("undo", nil)
	paid := flow.Step(f, "charge", f.Input(), charge, nil).Undo(refund, nil)
	flow.Step(f, "ship", paid, func(context.Context, string) (string, error) { return "", workflow.Permanent(errors.New("no truck")) }, nil)
	show(f, 1290)
	// Output:
	// refund of receipt over 1290
	// node ship: step ship: no truck
}

func ExampleNest() {
	delivery := flow.New[string]("delivery", nil)
	route := flow.Step(delivery, "route", delivery.Input(), func(_ context.Context, to string) (string, error) { return "road to " + to, nil }, nil)

	f := flow.New[string]("order-with-delivery", nil)
	sub := flow.Nest(f, "deliver", f.Input(), delivery, nil) // a child run, which nodes that have "delivery" execute
	flow.Step(f, "tell", flow.Apply(sub, func(r flow.Results) string { way, _, _ := route.In(r); return way }), pass, nil)
	flow.Call(f, "bill", f.Input(), workflow.Name[string, int]("bill"), nil)
	fmt.Print(f.Shape().DOT())
	// Output:
	// digraph "order-with-delivery" {
	//     node [shape=box, style=filled, fillcolor=white]
	//     n0 [label="bill\ncalls bill", shape=component]
	//     n1 [label="deliver\nflow delivery", shape=component]
	//     subgraph cluster_n1 {
	//         label="delivery"
	//         n1_0 [label="route"]
	//     }
	//     n2 [label="tell"]
	//     n1 -> n2
	// }
}

func ExampleCode() {
	f := flow.New[int]("code", nil)
	flow.Code(f, "poll", f.Input(), func(ctx workflow.Context, tries int) (string, error) {
		for i := range tries {
			ready, err := workflow.Step(ctx, "look", func(context.Context) (bool, error) { return i == 2, nil }, nil)
			if err != nil || ready {
				return fmt.Sprint("ready at the ", i+1, ". look"), err
			}
			if err := workflow.Sleep(ctx, time.Minute); err != nil {
				return "", err
			}
		}
		return "", errors.New("never ready")
	}, nil)
	show(f, 5)
	// Output: {"poll":"ready at the 3. look"}
}

func ExampleFlow_Check() {
	f := flow.New[int]("wrong", nil)
	a := flow.Step(f, "a", f.Input(), pass, nil)
	b := flow.Step(f, "b", a, pass, nil)
	flow.Step(f, "c", b, pass, &flow.Options{Timeout: -time.Second})
	a.After(b)
	fmt.Println(f.Check())
	// Output: flow wrong cannot run: node c: option Timeout is -1s: it must be positive, or 0 for none; nodes wait for each other: a → b → a
}

func ExampleFlow_CheckInput() {
	f := flow.New[Cart]("input", nil)
	flow.Map(f, "pack", flow.Apply(f.Input(), itemsOf), pack, nil)
	fmt.Println(f.CheckInput(Cart{Customer: "Ann"}))
	// Output: node pack: the input gave null instead of a list
}

func ExampleShape_Difference() {
	old, now := flow.New[int]("changed", nil), flow.New[int]("changed", nil)
	a := flow.Step(old, "a", old.Input(), pass, nil)
	flow.Step(old, "b", a, pass, nil)
	c := flow.Step(now, "c", flow.Step(now, "a", now.Input(), pass, nil), pass, nil)
	flow.Step(now, "b", c, pass, nil)
	for _, line := range old.Shape().Difference(now.Shape()) {
		fmt.Println(line)
	}
	// Output:
	// node b comes after c, no longer after a
	// node c is added, after a
}
