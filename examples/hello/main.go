// Command hello is the smallest program: it runs one workflow with one step.
//
//	go run ./examples/hello
//
// Its journal is a SQLite file in a folder that it prints, or the Postgres that -dsn or REPRISE_DSN
// names. The run has a key, so a second start finds the run of the first one: it continues that
// run, or reads its result.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const Hello workflow.Name[string, string] = "hello"

func hello(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, "greet", func(context.Context) (string, error) { return "Hello, " + name + "!", nil }, nil)
}

func main() {
	dsn := flag.String("dsn", os.Getenv("REPRISE_DSN"), "a Postgres to use instead of SQLite; default: REPRISE_DSN")
	dir := flag.String("dir", filepath.Join(os.TempDir(), "reprise-hello"), "`folder` of the SQLite file")
	flag.Parse()
	if err := run(context.Background(), *dsn, *dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// open returns a journal, and what closes its store.
func open(ctx context.Context, dsn, dir string, out io.Writer) (*journal.Journal, func(), error) {
	if dsn != "" {
		store, err := postgres.Open(ctx, dsn, nil)
		if err != nil {
			return nil, nil, err
		}
		return journal.New(store, nil), store.Close, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "reprise.db")
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintln(out, "the journal is", path)
	return journal.New(store, nil), store.Close, nil
}

func run(ctx context.Context, dsn, dir string, out io.Writer) error {
	j, done, err := open(ctx, dsn, dir, out)
	if err != nil {
		return err
	}
	defer done()

	node := runtime.NewNode(j, nil)
	runtime.Handle(node, Hello, hello, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains

	started, err := runtime.Start(ctx, node.Client(), Hello, "world", &runtime.StartOptions{Key: "hello:world"})
	if err != nil {
		return err
	}
	greeting, err := started.Result(ctx)
	if err != nil {
		return err
	}
	if !started.Created() {
		fmt.Fprintln(out, "from the run of an earlier start:")
	}
	fmt.Fprintln(out, greeting)
	return nil
}
