// Command gather makes one run of many inputs, in three ways: mails in batches of four or
// of a quarter of a second, a document that is indexed once its author rests, and a shop that is
// never synchronised twice at a time.
//
//	go run ./examples/gather
//
// Its journal is a SQLite file in a folder that it prints. Kill it amid the output and start it
// again: what was put and not sent is sent then, once.
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
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/gather"
)

const (
	SendMails workflow.Name[[]string, int] = "send-mails"
	Reindex   workflow.Name[string, int]   = "reindex"
	SyncShop  workflow.Name[int, int]      = "sync-shop"
)

var (
	Mails = gather.Batch("mails", SendMails, gather.Rules{Size: 4, Wait: 250 * time.Millisecond})
	Index = gather.Debounce("index", Reindex, gather.Rules{Quiet: 250 * time.Millisecond, Wait: 5 * time.Second})
	Shops = gather.Latest("shops", SyncShop, gather.Rules{})
)

// handle registers the workflows with a node: that of collectors, and those that get what they
// collect.
func handle(node *runtime.Node, out io.Writer) {
	gather.Handle(node)
	runtime.Handle(node, SendMails, func(ctx workflow.Context, mails []string) (int, error) {
		return say(ctx, out, len(mails), "mails", mails)
	}, nil)
	runtime.Handle(node, Reindex, func(ctx workflow.Context, text string) (int, error) {
		return say(ctx, out, len(text), "index", text)
	}, nil)
	runtime.Handle(node, SyncShop, func(ctx workflow.Context, stock int) (int, error) {
		if err := workflow.Sleep(ctx, 250*time.Millisecond); err != nil { // it takes its time
			return 0, err
		}
		return say(ctx, out, stock, "shop, stock", stock)
	}, nil)
}

// say is a step that prints.
func say(ctx workflow.Context, out io.Writer, result int, what string, in any) (int, error) {
	return workflow.Step(ctx, "say", func(context.Context) (int, error) {
		_, err := fmt.Fprintln(out, what, in)
		return result, err
	}, nil)
}

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "reprise-gather"), "`folder` of the SQLite file")
	flag.Parse()
	if err := run(context.Background(), *dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "reprise.db")
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	out = &shared{out: out}
	fmt.Fprintln(out, "the journal is", path)

	node := runtime.NewNode(journal.New(store, nil), nil)
	handle(node, out)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains

	if err := put(ctx, node.Client()); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// put puts inputs, and waits for the runs of the last ones.
func put(ctx context.Context, c *runtime.Client) error {
	for i := range 5 {
		if err := gather.Put(ctx, c, Mails, "eu", fmt.Sprint("mail ", i), nil); err != nil {
			return err
		}
		if err := gather.Put(ctx, c, Index, "doc 7", fmt.Sprint("draft ", i), nil); err != nil {
			return err
		}
		if err := gather.Put(ctx, c, Shops, "berlin", i, nil); err != nil {
			return err
		}
	}
	mail, err := gather.Add(ctx, c, Mails, "eu", "the last mail", nil)
	if err != nil {
		return err
	}
	text, err := gather.Add(ctx, c, Index, "doc 7", "the text", nil)
	if err != nil {
		return err
	}
	stock, err := gather.Add(ctx, c, Shops, "berlin", 42, nil)
	if err != nil {
		return err
	}
	for _, ticket := range []*gather.Ticket[int]{mail, text, stock} {
		if _, err := ticket.Result(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shared is a writer for many goroutines.
type shared struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}
