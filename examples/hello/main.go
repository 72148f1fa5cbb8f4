// Command hello runs one workflow with one step. It uses the Postgres that REPRISE_DSN names, or a private one.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const Hello workflow.Name[string, string] = "hello"

func hello(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, "greet", func(context.Context) (string, error) { return "Hello, " + name + "!", nil }, nil)
}

func main() {
	greeting, err := run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(greeting)
}

func run(ctx context.Context) (string, error) {
	dsn := os.Getenv("REPRISE_DSN")
	if dsn == "" {
		server, err := pgserver.Start(ctx, nil)
		if err != nil {
			return "", err
		}
		defer server.Stop()
		dsn = server.DSN("postgres")
	}
	store, err := postgres.Open(ctx, dsn, nil)
	if err != nil {
		return "", err
	}
	defer store.Close()

	node := runtime.NewNode(journal.New(store, nil), nil)
	runtime.Handle(node, Hello, hello, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains
	started, err := runtime.Start(ctx, node.Client(), Hello, "world", nil)
	if err != nil {
		return "", err
	}
	return started.Result(ctx)
}
