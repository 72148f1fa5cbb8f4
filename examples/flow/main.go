// Command flow is an order as a declared flow, which is drawn before it runs and while it waits.
//
//	go run ./examples/flow
//
// It draws the flow, starts an order that is large enough to need an approval, draws where the
// order stands, and approves it. Its journal is a SQLite file, which it prints, and which has the
// flow, too:
//
//	go run ./cmd/reprise --store THE-FILE flow draw order
//	go run ./cmd/reprise --store THE-FILE flow draw key=order:1
//
// Its pictures are Mermaid: paste one into a comment on GitHub, or into https://mermaid.live.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/flows"
)

func main() {
	dir, err := os.MkdirTemp("", "reprise-flow-")
	if err == nil {
		err = run(context.Background(), filepath.Join(dir, "reprise.db"), os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run draws and executes one order.
func run(ctx context.Context, file string, out io.Writer) error {
	order, shipped := declare()
	fmt.Fprintf(out, "The flow:\n\n%s\n", order.Shape().Mermaid())

	store, err := sqlite.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	flows.Handle(node, order, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer func() { end(nil); running.Wait() }() // the node drains

	client := node.Client()
	cart := Cart{"Ann", []string{"tea", "cups"}, 12_900}
	started, err := flows.Start(ctx, client, order, cart, &runtime.StartOptions{Key: "order:1"})
	if err != nil {
		return err
	}
	state, err := waiting(ctx, client, started.ID())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The order waits for its approval:\n\n%s\n", state.Mermaid())
	if err := runtime.Signal(ctx, client, started.ID(), Approved, "the boss", nil); err != nil {
		return err
	}
	results, err := started.Result(ctx)
	if err != nil {
		return err
	}
	text, _, err := shipped.In(results)
	fmt.Fprintf(out, "%s\nThe journal is %s\n", text, file)
	return err
}

// waiting returns the state of the order in which nothing but the approval is under way.
func waiting(ctx context.Context, c *runtime.Client, order journal.RunID) (*flow.State, error) {
	for {
		state, err := flows.State(ctx, c, order, nil)
		if err != nil {
			return nil, err
		}
		under := 0
		for _, n := range state.Nodes {
			if n.Status == flow.StatusRunning && n.Name != "approval" || n.Name == "pack" && n.Status == flow.StatusWaiting {
				under++
			}
		}
		if under == 0 {
			return state, nil
		}
		select {
		case <-time.After(10 * time.Millisecond): // a program that shows it to people asks less often
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
