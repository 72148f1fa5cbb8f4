package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// lossy is a database whose first answers to a commit are lost.
type lossy struct {
	workflow.Database[pgx.Tx]
	lost atomic.Int32
}

func (d *lossy) Once(ctx context.Context, key string, fn func(context.Context, pgx.Tx) (journal.Payload, error)) (journal.Payload, error) {
	out, err := d.Database.Once(ctx, key, fn)
	if err == nil && d.lost.Add(1) <= 2 {
		return journal.Payload{}, errors.New("the answer was lost")
	}
	return out, err
}

// A step in another database has its effect once, and the output of the attempt that had it,
// although answers are lost. Without an output it is the same.
func TestStepIn(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	pool, err := pgxpool.New(ctx, pgtest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(ctx, "CREATE TABLE entries (name text)"); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.OpenDatabase(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	other := &lossy{Database: db}
	var bodies atomic.Int32
	enter := func(ctx context.Context, tx pgx.Tx) (int, error) {
		_, err := tx.Exec(ctx, "INSERT INTO entries VALUES ('x')")
		return int(bodies.Add(1)), err
	}
	o := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 3}}
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, count, func(ctx workflow.Context, _ int) (int, error) {
			v, err := workflow.StepIn(ctx, "enter", other, enter, o)
			if err != nil {
				return 0, err
			}
			w, err := workflow.StepInAsync(ctx, "enter", other, enter, o).Get(ctx)
			if err != nil {
				return 0, err
			}
			err = workflow.DoIn(ctx, "enter", other, func(ctx context.Context, tx pgx.Tx) error { _, err := enter(ctx, tx); return err }, o)
			if err != nil {
				return 0, err
			}
			err = workflow.DoTx(ctx, "here", func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, "SELECT 1"); return err }, o)
			return 10*v + w, err
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), count, 0, nil)
	if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != 12 {
		t.Errorf("got %d, want 12: the outputs of the first and the second body", got)
	}
	var entries int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM entries").Scan(&entries); err != nil || entries != 3 || bodies.Load() != 3 {
		t.Errorf("%d entries of %d bodies, want 3: %v", entries, bodies.Load(), err)
	}
}

// Without a database the step fails with a sentence.
func TestStepInWithoutADatabase(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, count, func(ctx workflow.Context, _ int) (int, error) {
			return workflow.StepIn(ctx, "enter", nil, func(context.Context, pgx.Tx) (int, error) { return 1, nil }, nil)
		}, nil)
	})
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, n.Client(), count, 0, nil)
	_, err = clustertest.MustStart(t, run, err).Result(ctx)
	if f := clustertest.WantError[*runtime.FailedError](t, err); !strings.Contains(f.Error(), `step "enter" has no database`) {
		t.Error(f)
	}
}
