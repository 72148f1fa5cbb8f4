package runtime_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

func threeSteps(ctx workflow.Context, in int) (int, error) {
	for _, name := range []string{"one", "two", "three"} {
		if err := step(ctx, name); err != nil {
			return 0, err
		}
	}
	return in, nil
}

// transactions runs work on a fresh node and returns what Postgres counted, reads included. The
// node's connections are closed first, because a backend reports its counters when it ends.
func transactions(c *clustertest.Cluster, work func(ctx context.Context, n *runtime.Node)) (count int, took time.Duration) {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	read := func() (n int) {
		if err := conn.QueryRow(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`).Scan(&n); err != nil {
			c.T.Fatal(err)
		}
		return n
	}
	store, err := postgres.Open(ctx, c.DSN, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	n := c.RunOn(journal.New(store, nil), nil, func(n *runtime.Node) { runtime.Handle(n, count3, threeSteps, nil) })
	before := read()
	began := time.Now()
	work(ctx, n.Node)
	took = time.Since(began)
	n.Stop()
	store.Close()
	clustertest.Until(c.T, "all backends have ended", func() bool {
		var others int
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others)
		return err == nil && others <= 1 // the test's own store
	})
	return read() - before, took
}

const count3 workflow.Name[int, int] = "three steps"

// Sequential runs commit once a step plus the start; runs at once share their commits. What a node
// does in the same time for some first runs, after which it has prepared its statements, and then
// idly, is measured too and taken off.
func TestTransactionsPerRun(t *testing.T) {
	c := clustertest.New(t)
	times := func(ctx context.Context, n *runtime.Node, runs int) {
		for i := range runs {
			run, err := runtime.Start(ctx, n.Client(), count3, i, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Result(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := func(ctx context.Context, n *runtime.Node) { times(ctx, n, 50) }
	sequential := func(ctx context.Context, n *runtime.Node) { first(ctx, n); times(ctx, n, 1000) }
	parallel := func(ctx context.Context, n *runtime.Node) {
		first(ctx, n)
		var wg sync.WaitGroup
		for w := range 256 {
			wg.Go(func() {
				for i := w; i < 5120; i += 256 {
					run, err := runtime.Start(ctx, n.Client(), count3, i, nil)
					if err == nil {
						_, err = run.Result(ctx)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	loads := 0.0
	if os.Getenv("REPRISE_TEST_PASSIVATE") == "always" {
		loads = 2 // a run is read back after each commit that keeps it
	}
	for _, tc := range []struct {
		name string
		work func(context.Context, *runtime.Node)
		runs int
		max  float64
	}{{"one at a time", sequential, 1000, 4}, {"256 at once", parallel, 5120, 0.5}} {
		total, took := transactions(c, tc.work)
		idle, _ := transactions(c, func(ctx context.Context, n *runtime.Node) { first(ctx, n); time.Sleep(took) })
		perRun := float64(total-idle) / float64(tc.runs)
		t.Logf("%s: %d runs, %d transactions, %d without them in the same %s: %.3f a run", tc.name, tc.runs, total, idle, took.Round(time.Millisecond), perRun)
		// Loops tick by time and the pool opens connections when it needs them, so some of their
		// transactions fall on one side only: more of them the slower the machine. A commit too many
		// costs a whole transaction a run.
		const chance = 0.1
		if perRun > tc.max+loads+chance {
			t.Errorf("%s: %.3f transactions a run, want at most %g", tc.name, perRun, tc.max+loads)
		}
	}
}
