package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const printer workflow.Name[int, string] = "printer"

// progress is how far a printer is.
type progress struct{ Page, Of int }

// printers print a page for each signal, two in a generation, and show how far they are.
func printers(ctx workflow.Context, page int) (string, error) {
	const pages = 5
	if page == 0 {
		workflow.Publish(ctx, "paper", "white")
	}
	for n := 0; page < pages; n++ {
		workflow.Publish(ctx, "progress", progress{page, pages})
		if n == 2 {
			return "", workflow.ContinueAsNew(ctx, printer, page, nil)
		}
		if _, err := number.Receive(ctx); err != nil {
			return "", err
		}
		if err := step(ctx, "print"); err != nil {
			return "", err
		}
		page++
	}
	workflow.Publish(ctx, "progress", progress{page, pages})
	return "printed", nil
}

func handlePrinter(n *runtime.Node) { runtime.Handle(n, printer, printers, nil) }

// wantPage waits until a run has published that it is so far, and checks what else is told of it.
func wantPage(t *testing.T, c *runtime.Client, run journal.RunID, page int) {
	t.Helper()
	ctx := clustertest.Context(t)
	clustertest.Until(t, "the page is published", func() bool {
		got, err := runtime.Published[progress](ctx, c, run, "progress")
		if err != nil && !errors.Is(err, runtime.ErrNotPublished) {
			t.Fatal(err)
		}
		return err == nil && got == progress{page, 5}
	})
	if got, err := runtime.Published[string](ctx, c, run, "paper"); err != nil || got != "white" {
		t.Errorf("a value of the first generation is %q, %v", got, err)
	}
	d, err := c.Describe(ctx, run)
	if err != nil || len(d.Run.Published) != 2 || d.Run.Published[0].Name != "paper" {
		t.Errorf("described: %+v, %v", d.Run.Published, err)
	}
	list, err := c.List(ctx, journal.ListFilter{Workflow: string(printer)})
	if err != nil || len(list.Runs) == 0 || len(list.Runs[0].Published) != 2 {
		t.Errorf("listed: %+v, %v", list, err)
	}
}

// printAll sends what a printer waits for and checks its progress, also when it is done.
func printAll(t *testing.T, started *runtime.Run[string], sender, reader *runtime.Client, between func()) {
	t.Helper()
	ctx := clustertest.Context(t)
	for page := range 5 {
		wantPage(t, reader, started.ID(), page)
		between()
		if err := runtime.Signal(ctx, sender, started.ID(), number, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.MustResult(t, started)
	wantPage(t, reader, started.ID(), 5)
}

// What a run publishes is read by a client without its code, through generations and restarts of
// its node, and after its end.
func TestPublished(t *testing.T) {
	c := clustertest.New(t)
	ctx, reader := clustertest.Context(t), runtime.NewClient(c.Open(nil), nil)
	started, err := runtime.Start(ctx, reader, printer, 0, nil)
	run := clustertest.MustStart(t, started, err)
	if _, err := runtime.Published[progress](ctx, reader, run.ID(), "progress"); !errors.Is(err, runtime.ErrNotPublished) || !strings.Contains(err.Error(), `"progress" of run `+run.ID().String()) {
		t.Errorf("before the first turn: %v", err)
	}
	n := c.Run(nil, handlePrinter)
	printAll(t, run, reader, reader, func() {
		n.Stop()
		n = c.Run(nil, handlePrinter)
	})
	if _, err := runtime.Published[progress](ctx, reader, run.ID(), "ink"); !errors.Is(err, runtime.ErrNotPublished) {
		t.Errorf("another name: %v", err)
	}
	if _, err := runtime.Published[progress](ctx, reader, run.ID(), "paper"); err == nil || errors.Is(err, runtime.ErrNotPublished) {
		t.Errorf("another type: %v", err)
	}
	if _, err := runtime.Published[progress](ctx, reader, journal.NewRunID(), "progress"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
}

func TestPublishedOnSQLite(t *testing.T) {
	t.Parallel()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handlePrinter)
	defer stop()
	started, err := runtime.Start(clustertest.Context(t), n.Client(), printer, 0, nil)
	printAll(t, clustertest.MustStart(t, started, err), n.Client(), n.Client(), func() {})
}

// A read costs the run's row alone, however long the history is and whatever waits.
func TestPublishedReadsNoHistory(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handlePrinter)
	started, err := runtime.Start(ctx, n.Client(), printer, 0, nil)
	run := clustertest.MustStart(t, started, err)
	wantPage(t, n.Client(), run.ID(), 0)
	n.Stop()
	if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 1, nil); err != nil {
		t.Fatal(err)
	}
	var loads, rows int
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil), Loaded: func(answer []driver.History) {
		for i := range answer {
			loads, rows = loads+1, rows+len(answer[i].Events)+len(answer[i].Inbox)
		}
	}}
	reader := runtime.NewClient(journal.New(store, nil), nil)
	if _, err := runtime.Published[progress](ctx, reader, run.ID(), "progress"); err != nil || loads != 1 || rows != 0 {
		t.Errorf("%d loads brought %d events and messages, %v", loads, rows, err)
	}
}

// A turn that is not written has published nothing, and the one that takes its place has.
func TestPublishedComesWithTheCommit(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	reader := runtime.NewClient(c.Journal, nil)
	var refused int
	var shown []string
	store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
		for i := range commits {
			if commits[i].Published == nil {
				continue
			}
			if _, err := runtime.Published[progress](ctx, reader, commits[i].Run, "progress"); err != nil {
				shown = append(shown, err.Error())
			}
			if refused++; refused < 3 {
				return journal.ErrUnavailable
			}
		}
		return nil
	})
	n := c.RunOn(journal.New(store, nil), nil, handlePrinter)
	started, err := runtime.Start(ctx, n.Client(), printer, 0, nil)
	run := clustertest.MustStart(t, started, err)
	wantPage(t, reader, run.ID(), 0)
	if refused < 3 || len(shown) != refused {
		t.Errorf("%d tries, %d of them found nothing published before: %q", refused, len(shown), shown)
	}
}
