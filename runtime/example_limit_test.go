package runtime_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Rows are what a tenant imports.
type Rows struct {
	Tenant string
	Number int64
}

const Import workflow.Name[Rows, string] = "import"

// One import of a tenant at once, and of all tenants as many rows a minute as the database takes.
func ExampleLimitsFrom() {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	runtime.Handle(node, Import, func(ctx workflow.Context, in Rows) (string, error) {
		return fmt.Sprint(in.Number, " rows of ", in.Tenant), nil
	}, &runtime.HandleOptions{LimitsFrom: runtime.LimitsFrom(func(in Rows, _ map[string]string) []journal.LimitNeed {
		return []journal.LimitNeed{{Name: "import", Key: in.Tenant}, {Name: "rows", Cost: in.Number}}
	})})
	running(node, func(ctx context.Context) {
		fmt.Println(runtime.SetLimit(ctx, node.Client(), journal.Limit{Name: "import", Concurrency: 1}))
		run, err := runtime.Start(ctx, node.Client(), Import, Rows{"acme", 20}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run.Result(ctx))
		d, err := node.Client().Describe(ctx, run.ID())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, need := range d.Run.Limits {
			fmt.Println(need)
		}
	})
	// Output:
	// <nil>
	// 20 rows of acme <nil>
	// limit "import", key "acme"
	// limit "rows"
}

const AskBank workflow.Name[string, string] = "ask-bank"

// asking runs a node while fn does its work. Its workflow asks a bank, one at a time; the first
// who asks gets no answer until hangs is closed. fn is called when that one holds the limit, and
// somebody else waits.
func asking(fn func(ctx context.Context, c *runtime.Client, hangs chan struct{}, waits *runtime.Run[string])) {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	hangs := make(chan struct{})
	runtime.Handle(node, AskBank, func(ctx workflow.Context, who string) (string, error) {
		return workflow.Step(ctx, "ask", func(context.Context) (string, error) {
			if who == "Ann" {
				<-hangs
			}
			return "an answer for " + who, nil
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "bank"}}})
	}, nil)
	running(node, func(ctx context.Context) {
		c := node.Client()
		if err := runtime.SetLimit(ctx, c, journal.Limit{Name: "bank", Concurrency: 1}); err != nil {
			fmt.Println(err)
			return
		}
		for claims, who := range []string{"Ann", "Bob"} {
			run, err := runtime.Start(ctx, c, AskBank, who, nil)
			for page := (journal.LimitPage{}); err == nil && len(page.Claims) <= claims; {
				page, err = runtime.Limits(ctx, c, &journal.LimitFilter{Name: "bank", Claims: 10})
			}
			if err != nil {
				fmt.Println(err)
				return
			}
			if who == "Bob" {
				fn(ctx, c, hangs, run)
			}
		}
	})
}

func ExampleLimits() {
	asking(func(ctx context.Context, c *runtime.Client, hangs chan struct{}, waits *runtime.Run[string]) {
		page, err := runtime.Limits(ctx, c, &journal.LimitFilter{Name: "bank", Uses: 10, Claims: 10})
		if err != nil {
			fmt.Println(err)
		}
		for _, u := range page.Uses {
			fmt.Println(u.Name, "held:", u.Held, "waiting:", u.Waiting)
		}
		for _, claim := range page.Claims {
			fmt.Println(claim.Step, "in place", claim.Place, "waits:", claim.Run == waits.ID())
		}
		close(hangs)
	})
	// Output:
	// bank held: 1 waiting: 1
	// ask in place 0 waits: false
	// ask in place 1 waits: true
}

// A step hangs. Its claim is taken away, and the next one begins.
func ExampleReleaseClaim() {
	asking(func(ctx context.Context, c *runtime.Client, hangs chan struct{}, waits *runtime.Run[string]) {
		page, err := runtime.Limits(ctx, c, &journal.LimitFilter{Name: "bank", Claims: 10})
		if err != nil {
			fmt.Println(err)
		}
		for _, claim := range page.Claims {
			if !claim.Granted.IsZero() {
				fmt.Println(runtime.ReleaseClaim(ctx, c, claim.Node, claim.ID))
			}
		}
		fmt.Println(waits.Result(ctx))
		close(hangs)
	})
	// Output:
	// <nil>
	// an answer for Bob <nil>
}
