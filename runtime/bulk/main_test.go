package bulk_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

func TestMain(m *testing.M) {
	process.Main()
	pgtest.Main(m)
}

const (
	parcel  workflow.Name[int, string] = "parcel"
	scanned workflow.Signal[string]    = "scanned"
)

// handleParcels registers a workflow that waits for a signal.
func handleParcels(n *runtime.Node) { runtime.Handle(n, parcel, deliver, nil) }

func deliver(ctx workflow.Context, _ int) (string, error) { return scanned.Receive(ctx) }

// startParcels starts n parcels of a shop.
func startParcels(t testing.TB, c *runtime.Client, shop string, n int) (list []journal.RunID) {
	t.Helper()
	for i := range n {
		run, err := runtime.Start(context.Background(), c, parcel, i, &runtime.StartOptions{Labels: map[string]string{"shop": shop, "aisle": shop}})
		list = append(list, clustertest.MustStart(t, run, err).ID())
	}
	return list
}

var silent = slog.New(slog.DiscardHandler)

// serve runs a node that executes jobs until stop.
func serve(t testing.TB, store driver.Store) (stop func()) {
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
	bulk.Handle(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// find lists what a filter selects.
func find(t testing.TB, c *runtime.Client, where string) (list []journal.Run) {
	t.Helper()
	for f := (journal.ListFilter{Where: where, Limit: journal.ListMax}); ; {
		page, err := c.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, page.Runs...)
		if f.Cursor = page.Next; f.Cursor == "" {
			return list
		}
	}
}

func wantFound(t testing.TB, c *runtime.Client, where string, want int) {
	t.Helper()
	if got := find(t, c, where); len(got) != want {
		t.Errorf("%s selects %d runs, want %d", where, len(got), want)
	}
}

// auditOf lists the entries of a verb, oldest first.
func auditOf(t testing.TB, c *runtime.Client, verb string) (all []journal.AuditEntry) {
	t.Helper()
	for f := (journal.AuditFilter{Verb: verb, Limit: journal.ListMax}); ; {
		list, err := c.Audit(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			slices.Reverse(all)
			return all
		}
		all, f.Before = append(all, list...), list[len(list)-1].Number
	}
}

// wantOnce checks that the audit has one entry of a verb for each run, by an actor and with a
// reason.
func wantOnce(t testing.TB, c *runtime.Client, verb string, runs []journal.RunID, actor, reason string) {
	t.Helper()
	entries := map[journal.RunID]int{}
	for _, e := range auditOf(t, c, verb) {
		if e.Actor == actor && e.Reason == reason {
			entries[e.Run]++
		}
	}
	for _, run := range runs {
		if entries[run] != 1 {
			t.Errorf("the audit has %d times that %s did %s to run %s because of %q, want once", entries[run], actor, verb, run, reason)
		}
		delete(entries, run)
	}
	if len(entries) > 0 {
		t.Errorf("%s was done to runs that were not meant: %v", verb, entries)
	}
}

// because is the reason of what a job does.
func because(job journal.RunID, reason string) string {
	return fmt.Sprintf("bulk job %s: %s", job, reason)
}
