package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The workflows of the shop of docs/incidents.md.
const (
	orders        workflow.Name[string, string] = "order"
	invoices      workflow.Name[string, int]    = "invoice"
	payments      workflow.Name[string, string] = "payment"
	refunds       workflow.Name[string, string] = "refund"
	subscriptions workflow.Name[string, string] = "subscription"
	imports       workflow.Name[string, string] = "import"
	exports       workflow.Name[string, string] = "export"
	shipments     workflow.Name[string, string] = "shipment"

	packed  workflow.Signal[string] = "packed"
	address workflow.Signal[string] = "address"
	paid    workflow.Signal[string] = "paid"
	renewed workflow.Signal[string] = "renewed"
)

// errBank is how a partner that is down answers.
var errBank = errors.New("the bank does not answer")

func init() { workflow.RegisterError("bank.Unavailable", errBank) }

// world is what the shop's steps meet outside.
type world struct {
	price    atomic.Int64 // that the price list has
	bankIsUp atomic.Bool
	charges  atomic.Int64 // of subscriptions
	carrier  atomic.Bool  // answers
	quota    chan struct{}
}

// did is the body of a step that does what it is called.
func did(what string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return what, nil }
}

// steps executes steps one after the other.
func steps(ctx workflow.Context, names ...string) error {
	for _, name := range names {
		if _, err := workflow.Step(ctx, name, did(name), nil); err != nil {
			return err
		}
	}
	return nil
}

// ordersThat is orders with these steps before they wait for a parcel.
func ordersThat(names ...string) func(*runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, orders, func(ctx workflow.Context, _ string) (string, error) {
			if err := steps(ctx, names...); err != nil {
				return "", err
			}
			return packed.Receive(ctx)
		}, nil)
	}
}

// handleAddressed is orders that receive an address, and think that there is always one.
func handleAddressed(n *runtime.Node) {
	runtime.Handle(n, orders, func(ctx workflow.Context, _ string) (string, error) {
		if err := steps(ctx, "reserve"); err != nil {
			return "", err
		}
		to, err := address.Receive(ctx)
		if err != nil {
			return "", err
		}
		house := strings.Fields(to)[0]
		return house, steps(ctx, "send")
	}, nil)
}

// handleInvoices is invoices over what the price list has.
func (w *world) handleInvoices(n *runtime.Node) {
	runtime.Handle(n, invoices, func(ctx workflow.Context, _ string) (int, error) {
		price, err := workflow.Step(ctx, "price", func(context.Context) (int, error) { return int(w.price.Load()), nil }, nil)
		if err != nil {
			return 0, err
		}
		workflow.SetLabels(ctx, map[string]string{"total": strconv.Itoa(price)})
		_, err = paid.Receive(ctx)
		return price, err
	}, nil)
}

// handleMoney is payments that wait for an operator if the bank is down, and refunds that fail.
func (w *world) handleMoney(n *runtime.Node) {
	call := func(context.Context) (string, error) {
		if !w.bankIsUp.Load() {
			return "", errBank
		}
		return "done", nil
	}
	few := &workflow.RetryPolicy{Attempts: 2, Initial: time.Millisecond}
	runtime.Handle(n, payments, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, "charge", call, &workflow.StepOptions{Retry: few, OnExhausted: workflow.PauseRun})
	}, nil)
	runtime.Handle(n, refunds, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, "credit", call, &workflow.StepOptions{Retry: few})
	}, nil)
}

// subscriptionsThat is two versions of subscriptions, the second of which charges so many times.
func (w *world) subscriptionsThat(times int) func(*runtime.Node) {
	return func(n *runtime.Node) {
		for version, times := range map[int32]int{1: 1, 2: times} {
			runtime.Handle(n, subscriptions, func(ctx workflow.Context, _ string) (string, error) {
				month, err := renewed.Receive(ctx)
				for range times {
					if err == nil {
						_, err = workflow.Step(ctx, "charge", func(context.Context) (int64, error) { return w.charges.Add(1), nil }, nil)
					}
				}
				return month, err
			}, &runtime.HandleOptions{Version: version})
		}
	}
}

// handleImports is imports that take as long as the quota of a partner lets them, and orders.
func (w *world) handleImports(n *runtime.Node) {
	ordersThat("reserve")(n)
	runtime.Handle(n, imports, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, "fetch", func(ctx context.Context) (string, error) {
			select {
			case <-w.quota:
				return "fetched", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, nil)
	}, &runtime.HandleOptions{Queue: "imports"})
}

// handleShipments is shipments that a carrier books, whose API is called twice at once. A call that
// was made while the carrier was down gets no answer, also when it is up again.
func (w *world) handleShipments(n *runtime.Node) {
	runtime.Handle(n, shipments, func(ctx workflow.Context, _ string) (string, error) {
		if err := steps(ctx, "pack"); err != nil {
			return "", err
		}
		return workflow.Step(ctx, "book", func(ctx context.Context) (string, error) {
			if !w.carrier.Load() {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "booked", nil
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "carrier"}}})
	}, nil)
}

// handleExports is exports that end their process if they are not repaired.
func handleExports(repaired bool) func(*runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, exports, func(ctx workflow.Context, _ string) (string, error) {
			if err := steps(ctx, "collect"); err != nil {
				return "", err
			}
			if err := workflow.Sleep(ctx, time.Millisecond); err != nil { // so that the step before is stored
				return "", err
			}
			return workflow.Step(ctx, "compress", func(context.Context) (string, error) {
				if !repaired {
					os.Exit(exitOfExports)
				}
				return "compressed", nil
			}, nil)
		}, nil)
	}
}

// exitOfExports is how a process ends that the kernel kills because it has no memory.
const exitOfExports = 137

// exportsMain is a program of its own that has what is not repaired yet.
func exportsMain() int {
	store, err := postgres.Open(context.Background(), os.Getenv("REPRISE_STORE"), nil)
	if err == nil {
		defer store.Close()
		node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Name: "exports", Logger: silent})
		handleExports(false)(node)
		err = node.Run(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
