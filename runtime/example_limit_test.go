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
