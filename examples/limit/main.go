// Command limit calls an API that must not be called too often: three answers at once over all
// runs, so many calls of each tenant in a time, and so many tokens of a model, of which a step
// reserves an estimate and settles what it has used.
//
//	go run ./examples/limit
//
// Its journal is a SQLite file in a folder that it prints. The limits are there when it is started
// again, and an operator changes them while it runs: reprise limit list, with --store and that
// file, says what they bound, and reprise limit set what they bound from then on.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Question is what a tenant wants to know.
type Question struct{ Tenant, Text string }

const Ask workflow.Name[Question, string] = "ask"

// limits are what the program's steps name. A limit that is not there bounds nothing.
var limits = []journal.Limit{
	{Name: "api", Concurrency: 3},
	// One tenant makes two calls at once after a pause, and then one in a fifth of a second.
	{Name: "tenant", Rate: journal.Rate{N: 5, Per: time.Second, Burst: 2}},
	{Name: "tokens", Rate: journal.Rate{N: 4000, Per: time.Second, Burst: 4000}},
}

// estimate is how many tokens an answer may cost, and price what one does cost.
const (
	estimate = 2000
	price    = 300
)

// api is what must not be called too often. It counts who calls.
type api struct {
	mu    sync.Mutex
	now   int
	most  int
	calls map[string][]time.Time // of each tenant, when they began
}

func (a *api) answer(ctx context.Context, q Question) (string, error) {
	a.mu.Lock()
	a.now++
	a.most = max(a.most, a.now)
	a.calls[q.Tenant] = append(a.calls[q.Tenant], time.Now())
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.now--
	}()
	select {
	case <-time.After(20 * time.Millisecond): // it thinks
	case <-ctx.Done():
		return "", ctx.Err()
	}
	// The step has reserved an estimate. What it has not used is there for others at once.
	return "an answer to " + q.Text, workflow.Settle(ctx, "tokens", price)
}

// ask is a workflow of one step, which begins when each of its limits allows it. While it waits it
// has no goroutine and no connection.
func (a *api) ask(ctx workflow.Context, q Question) (string, error) {
	return workflow.Step(ctx, "answer", func(ctx context.Context) (string, error) { return a.answer(ctx, q) },
		&workflow.StepOptions{Limits: []workflow.StepLimit{
			{Name: "api"}, {Name: "tenant", Key: q.Tenant}, {Name: "tokens", Cost: estimate},
		}})
}

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "reprise-limit"), "`folder` of the SQLite file")
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
	fmt.Fprintln(out, "the journal is", path)

	node := runtime.NewNode(journal.New(store, nil), nil)
	a := &api{calls: map[string][]time.Time{}}
	runtime.Handle(node, Ask, a.ask, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains

	for _, l := range limits {
		if err := runtime.SetLimit(ctx, node.Client(), l); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := askAll(ctx, node.Client(), out); err != nil {
		return err
	}
	a.report(out, time.Since(began))
	return nil
}

// askAll starts more runs than may call at once, says why one of them waits, and waits for all.
func askAll(ctx context.Context, client *runtime.Client, out io.Writer) error {
	var runs []*runtime.Run[string]
	for i := range 12 {
		tenant := []string{"acme", "acme", "tin"}[i%3] // acme asks twice as often
		run, err := runtime.Start(ctx, client, Ask, Question{tenant, fmt.Sprintf("question %d", i+1)}, nil)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if why, err := client.Why(ctx, runs[len(runs)-2].ID()); err == nil {
		fmt.Fprint(out, why)
	}
	for _, run := range runs {
		if _, err := run.Result(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *api) report(out io.Writer, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(out, "12 answers in %s, at most %d at once\n", took.Round(100*time.Millisecond), a.most)
	for _, tenant := range []string{"acme", "tin"} {
		calls := a.calls[tenant]
		slices.SortFunc(calls, time.Time.Compare)
		fmt.Fprintf(out, "%s: %d calls in %s\n", tenant, len(calls), calls[len(calls)-1].Sub(calls[0]).Round(100*time.Millisecond))
	}
}
