package runtime_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// deaf are options of a node that finds nothing by a poll while the test lasts: not by its own, nor
// by its renewals, which look at the queue as well.
func deaf(c *clustertest.Cluster) *runtime.NodeOptions {
	o := c.Options()
	o.Poll, o.Lease = time.Hour, time.Hour
	return o
}

// registerInTx registers a workflow that waits for approval, and one whose step approves a run in
// its own transaction.
func registerInTx(n *runtime.Node) {
	runtime.Handle(n, waiter, func(ctx workflow.Context, _ string) (string, error) { return approved.Receive(ctx) }, nil)
}

const approver workflow.Name[journal.RunID, string] = "approver"

// TestInTxIsHeard: a start, a signal and both together, in a transaction of the caller's, are heard
// of when it commits, however long that takes, by the node that does not poll: from its own client
// and from another process.
func TestInTxIsHeard(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	conn := c.Connect()
	n := c.Run(deaf(c), func(n *runtime.Node) {
		registerInTx(n)
		runtime.Handle(n, approver, func(ctx workflow.Context, run journal.RunID) (string, error) {
			return workflow.StepTx(ctx, "approve", func(ctx context.Context, tx pgx.Tx) (string, error) {
				return "approved", runtime.Signal(ctx, runtime.NewClient(c.Journal, nil), run, approved, "by a step", &runtime.SignalOptions{Tx: postgres.InTx(tx)})
			}, nil)
		}, nil)
	})
	for what, client := range map[string]*runtime.Client{"its own client": n.Client(), "another process": runtime.NewClient(c.Open(nil), nil)} {
		begin := func() pgx.Tx {
			tx, err := conn.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		}
		commit := func(tx pgx.Tx, errs ...error) {
			for _, err := range errs {
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			if err := tx.Commit(ctx); err != nil {
				t.Fatal(err)
			}
		}
		tx := begin()
		run, err := runtime.Start(ctx, client, waiter, "", &runtime.StartOptions{Tx: postgres.InTx(tx)})
		commit(tx, err)
		clustertest.Parked(t, client, run.ID())
		tx = begin()
		nested, err := tx.Begin(ctx)
		commit(tx, err, runtime.Signal(ctx, client, run.ID(), approved, "yes", &runtime.SignalOptions{Tx: postgres.InTx(nested)}), nested.Commit(ctx))
		if got := clustertest.MustResult(t, run); got != "yes" {
			t.Errorf("%s: got %q", what, got)
		}
		tx = begin()
		both, err := runtime.SignalWithStart(ctx, client, waiter, "", approved, "at once", &runtime.StartOptions{Key: what, Tx: postgres.InTx(tx)}, nil)
		commit(tx, err)
		if got := clustertest.MustResult(t, both); got != "at once" {
			t.Errorf("%s: got %q", what, got)
		}
	}
	waits, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	clustertest.Parked(t, n.Client(), clustertest.MustStart(t, waits, err).ID())
	if _, err := runtime.Start(ctx, n.Client(), approver, waits.ID(), nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, waits); got != "by a step" {
		t.Errorf("got %q", got)
	}
}

// TestInTxIsHeardOnSQLite: the same for a step's transaction and for one on a connection of the
// caller's.
func TestInTxIsHeardOnSQLite(t *testing.T) {
	ctx := clustertest.Context(t)
	path := filepath.Join(t.TempDir(), "journal.db")
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log := &clustertest.Log{}
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Poll: time.Hour, Lease: time.Hour, Logger: slog.New(slog.NewTextHandler(log, nil))})
	registerInTx(n)
	runtime.Handle(n, approver, func(ctx workflow.Context, run journal.RunID) (string, error) {
		return workflow.StepTx(ctx, "approve", func(ctx context.Context, tx *sql.Tx) (string, error) {
			return "approved", runtime.Signal(ctx, n.Client(), run, approved, "by a step", &runtime.SignalOptions{Tx: sqlite.InTx(tx)})
		}, nil)
	}, nil)
	life, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(life) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	run, err := runtime.Start(ctx, n.Client(), waiter, "", &runtime.StartOptions{Tx: sqlite.InTx(tx)})
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
	clustertest.Parked(t, n.Client(), run.ID())
	if _, err := runtime.Start(ctx, n.Client(), approver, run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "by a step" {
		t.Errorf("got %q", got)
	}
}
