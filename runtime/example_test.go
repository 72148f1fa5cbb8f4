package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The names that workflow code and callers share.
const (
	Cart     workflow.Name[string, int]    = "cart"
	Add      workflow.Update[Item, int]    = "add"
	Coupon   workflow.Signal[string]       = "coupon"
	Checkout workflow.Signal[bool]         = "checkout"
	Total    workflow.Query[struct{}, int] = "total"
)

type Item struct {
	Name  string
	Price int
}

// cart collects items until it is checked out.
func cart(ctx workflow.Context, customer string) (int, error) {
	total := 0
	Total.Handle(ctx, func(struct{}) (int, error) { return total, nil })
	Add.Handle(ctx, func(_ workflow.Context, it Item) (int, error) {
		total += it.Price
		return total, nil
	}, &workflow.UpdateOptions[Item]{Validate: func(it Item) error {
		if it.Price < 0 {
			return fmt.Errorf("%s has a negative price", it.Name)
		}
		return nil
	}})
	for {
		done := false
		_, err := workflow.Select(ctx,
			workflow.OnSignal(Coupon, func(string) { total -= 5 }),
			workflow.OnSignal(Checkout, func(bool) { done = true }))
		if err != nil || done {
			return total, err
		}
	}
}

// serve runs a node with the cart on a store in memory while fn does its work. A program opens
// postgres or sqlite instead, and calls node.Run in its main function.
func serve(fn func(ctx context.Context, node *runtime.Node)) {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	runtime.Handle(node, Cart, cart, nil)
	running(node, func(ctx context.Context) { fn(ctx, node) })
}

// running runs a node while fn does its work.
func running(node *runtime.Node, fn func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	fn(ctx)
	cancel()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
}

func ExampleStart() {
	serve(func(ctx context.Context, node *runtime.Node) {
		run, err := runtime.Start(ctx, node.Client(), Cart, "Ann", &runtime.StartOptions{Key: "cart:ann"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(runtime.Signal(ctx, node.Client(), run.ID(), Checkout, true, nil))
		fmt.Println(run.Result(ctx))
	})
	// Output:
	// <nil>
	// 0 <nil>
}

// A singleton: one run of the key is open at a time. A start meanwhile gets that one, and the next
// one after its end makes a new one.
func ExampleStart_singleton() {
	serve(func(ctx context.Context, node *runtime.Node) {
		one := &runtime.StartOptions{Key: "cart:ann", Reuse: journal.ReuseAllow}
		for range 2 {
			first, err := runtime.Start(ctx, node.Client(), Cart, "Ann", one)
			if err != nil {
				fmt.Println(err)
				return
			}
			second, err := runtime.Start(ctx, node.Client(), Cart, "Ann", one)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(first.Created(), second.Created(), first.ID() == second.ID())
			fmt.Println(runtime.Signal(ctx, node.Client(), second.ID(), Checkout, true, nil))
			fmt.Println(first.Result(ctx))
		}
	})
	// Output:
	// true false true
	// <nil>
	// 0 <nil>
	// true false true
	// <nil>
	// 0 <nil>
}

// A call changes the run and has its answer. One that is refused leaves no trace; one with a key
// happens once.
func ExampleCallUpdate() {
	serve(func(ctx context.Context, node *runtime.Node) {
		run, err := runtime.Start(ctx, node.Client(), Cart, "Ann", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		once := &runtime.UpdateOptions{Key: "click-1"}
		fmt.Println(runtime.CallUpdate(ctx, node.Client(), run.ID(), Add, Item{"tea", 7}, once))
		fmt.Println(runtime.CallUpdate(ctx, node.Client(), run.ID(), Add, Item{"tea", 7}, once))
		_, err = runtime.CallUpdate(ctx, node.Client(), run.ID(), Add, Item{"refund", -7}, nil)
		fmt.Println(errors.Is(err, runtime.ErrRejected))
		var refused *runtime.UpdateError
		if errors.As(err, &refused) {
			fmt.Println(refused.Failure.Message)
		}
	})
	// Output:
	// 7 <nil>
	// 7 <nil>
	// true
	// refund has a negative price
}

func ExampleSendUpdate() {
	serve(func(ctx context.Context, node *runtime.Node) {
		run, err := runtime.Start(ctx, node.Client(), Cart, "Ann", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		tea, err := runtime.SendUpdate(ctx, node.Client(), run.ID(), Add, Item{"tea", 7}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		cake, err := runtime.SendUpdate(ctx, node.Client(), run.ID(), Add, Item{"cake", 4}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cake.Result(ctx))
		fmt.Println(tea.Result(ctx))
	})
	// Output:
	// 11 <nil>
	// 7 <nil>
}

// A query sees every message that was acknowledged before.
func ExampleQuery() {
	serve(func(ctx context.Context, node *runtime.Node) {
		run, err := runtime.Start(ctx, node.Client(), Cart, "Ann", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(runtime.Query(ctx, node, run.ID(), Total, struct{}{}))
		if err := runtime.Signal(ctx, node.Client(), run.ID(), Coupon, "spring", nil); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(runtime.Query(ctx, node, run.ID(), Total, struct{}{}))
	})
	// Output:
	// 0 <nil>
	// -5 <nil>
}

// Whoever comes first makes the cart.
func ExampleSignalWithStart() {
	serve(func(ctx context.Context, node *runtime.Node) {
		key := &runtime.StartOptions{Key: "cart:ann"}
		for range 2 {
			run, err := runtime.SignalWithStart(ctx, node.Client(), Cart, "Ann", Coupon, "spring", key, nil)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(run.Created())
			fmt.Println(runtime.Query(ctx, node, run.ID(), Total, struct{}{}))
		}
	})
	// Output:
	// true
	// -5 <nil>
	// false
	// -10 <nil>
}

func ExampleUpdateWithStart() {
	serve(func(ctx context.Context, node *runtime.Node) {
		key := &runtime.StartOptions{Key: "cart:ann"}
		for range 2 {
			run, added, err := runtime.UpdateWithStart(ctx, node.Client(), Cart, "Ann", Add, Item{"tea", 7}, key, nil)
			if err != nil {
				fmt.Println(err)
				return
			}
			total, err := added.Result(ctx)
			fmt.Println(run.Created(), total, err)
		}
	})
	// Output:
	// true 7 <nil>
	// false 14 <nil>
}

// Old code can be removed when nothing needs it any more: a version when no open run has it, the
// old branch of a change when no open run may be before it.
func ExampleClient_List() {
	serve(func(ctx context.Context, node *runtime.Node) {
		if _, err := runtime.Start(ctx, node.Client(), Cart, "Ann", nil); err != nil {
			fmt.Println(err)
			return
		}
		open := journal.Open
		version, err := node.Client().List(ctx, journal.ListFilter{Workflow: "cart", Version: 1, Status: &open})
		if err != nil {
			fmt.Println(err)
			return
		}
		change, err := node.Client().List(ctx, journal.ListFilter{Workflow: "cart", Unchanged: "free tea"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("open runs of version 1:", len(version.Runs))
		fmt.Println("open runs that may take the old branch:", len(change.Runs))
	})
	// Output:
	// open runs of version 1: 1
	// open runs that may take the old branch: 1
}

// What a run waits for, and who it belongs to.
func ExampleClient_Describe() {
	serve(func(ctx context.Context, node *runtime.Node) {
		run, err := runtime.Start(ctx, node.Client(), Cart, "Ann", &runtime.StartOptions{Key: "cart:ann"})
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := node.Client().Describe(ctx, run.ID())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Run.Key, d.Run.Status, "generation", d.Run.Generation, "has", len(d.Children), "children")
	})
	// Output: cart:ann open generation 1 has 0 children
}
