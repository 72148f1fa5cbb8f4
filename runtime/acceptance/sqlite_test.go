package acceptance_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	sqliteFlow workflow.Name[int, int]    = "sqlite-flow"
	sqliteGo   workflow.Signal[int]       = "go"
	txFlow     workflow.Name[string, int] = "sqlite-tx"
)

// TestSQLiteNodeAndClient: steps, a signal and a timer on a file, which is closed and opened again
// in between.
func TestSQLiteNodeAndClient(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	var first, second atomic.Int32
	register := func(n *runtime.Node) {
		runtime.Handle(n, sqliteFlow, func(ctx workflow.Context, in int) (int, error) {
			a, err := workflow.Step(ctx, "first", func(context.Context) (int, error) { first.Add(1); return in + 1, nil }, nil)
			if err != nil {
				return 0, err
			}
			if err := workflow.Sleep(ctx, 20*time.Millisecond); err != nil {
				return 0, err
			}
			b, err := sqliteGo.Receive(ctx)
			if err != nil {
				return 0, err
			}
			return workflow.Step(ctx, "second", func(context.Context) (int, error) { second.Add(1); return a * b, nil }, nil)
		}, nil)
	}
	const runs = 50
	log := &clustertest.Log{}
	n, stop := clustertest.SQLiteNode(t, path, log, register)
	ctx := clustertest.Context(t)
	ids := make([]journal.RunID, runs)
	for i := range ids {
		h, err := runtime.Start(ctx, n.Client(), sqliteFlow, i, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = h.ID()
	}
	clustertest.Until(t, "all runs have done their first step", func() bool { return first.Load() == runs })
	stop()
	n, _ = clustertest.SQLiteNode(t, path, log, register)
	for _, id := range ids {
		if err := runtime.Signal(ctx, n.Client(), id, sqliteGo, 2, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids {
		got, err := runtime.RunOf(n.Client(), sqliteFlow, id).Result(ctx)
		if err != nil || got != 2*(i+1) {
			t.Errorf("run %d: got %d, %v, want %d", i, got, err, 2*(i+1))
		}
	}
	if first.Load() != runs || second.Load() != runs {
		t.Errorf("%d first and %d second steps, want %d of each", first.Load(), second.Load(), runs)
	}
}

// TestSQLiteStepTx: the SQL of a transactional step takes effect exactly if its event is stored,
// also when many steps want the file at once.
func TestSQLiteStepTx(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	var attempts atomic.Int32
	n, _ := clustertest.SQLiteNode(t, path, &clustertest.Log{}, func(n *runtime.Node) {
		runtime.Handle(n, txFlow, func(ctx workflow.Context, in string) (int, error) {
			return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx *sql.Tx) (int, error) {
				if _, err := tx.ExecContext(ctx, `INSERT INTO account VALUES (?)`, in); err != nil {
					return 0, err
				}
				if attempts.Add(1)%3 == 0 {
					return 0, errors.New("after the insert")
				}
				return 1, nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 20}})
		}, nil)
	})
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := clustertest.Context(t)
	if _, err := db.ExecContext(ctx, `CREATE TABLE account (entry TEXT)`); err != nil {
		t.Fatal(err)
	}
	const runs = 60
	var work sync.WaitGroup
	for range runs {
		work.Go(func() {
			h, err := runtime.Start(ctx, n.Client(), txFlow, "x", nil)
			if err == nil {
				_, err = h.Result(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	var entries int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM account`).Scan(&entries); err != nil || entries != runs {
		t.Errorf("%d entries, %v, want %d", entries, err, runs)
	}
}

// BenchmarkSQLiteChain: runs of three steps, 512 in flight, every commit on disk.
func BenchmarkSQLiteChain(b *testing.B) {
	const inFlight, steps = 512, 3
	n, _ := clustertest.SQLiteNode(b, filepath.Join(b.TempDir(), "reprise.db"), &clustertest.Log{}, func(n *runtime.Node) {
		runtime.Handle(n, sqliteFlow, func(ctx workflow.Context, in int) (int, error) {
			for range in {
				_, err := workflow.Step(ctx, "step", func(context.Context) (int, error) { return 1, nil }, nil)
				if err != nil {
					return 0, err
				}
			}
			return in, nil
		}, nil)
	})
	benchRuns(b, n, sqliteFlow, steps, inFlight)
}

// BenchmarkSQLiteStepTx: runs of one step in a transaction, 64 in flight. Each has the file for
// itself for a moment.
func BenchmarkSQLiteStepTx(b *testing.B) {
	path := filepath.Join(b.TempDir(), "reprise.db")
	n, _ := clustertest.SQLiteNode(b, path, &clustertest.Log{}, func(n *runtime.Node) {
		runtime.Handle(n, txFlow, func(ctx workflow.Context, in string) (int, error) {
			return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx *sql.Tx) (int, error) {
				_, err := tx.ExecContext(ctx, `INSERT INTO account VALUES (?)`, in)
				return 1, err
			}, nil)
		}, nil)
	})
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.Context(), `CREATE TABLE account (entry TEXT)`); err != nil {
		b.Fatal(err)
	}
	benchRuns(b, n, txFlow, "x", 64)
}

// benchRuns makes b.N runs, so many at once, each from its start to its result.
func benchRuns[In, Out any](b *testing.B, n *runtime.Node, name workflow.Name[In, Out], in In, inFlight int) {
	var next atomic.Int64
	var work sync.WaitGroup
	b.ResetTimer()
	for range inFlight {
		work.Go(func() {
			for next.Add(1) <= int64(b.N) {
				h, err := runtime.Start(context.Background(), n.Client(), name, in, nil)
				if err == nil {
					_, err = h.Result(context.Background())
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
