package runtime_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// waysToFail are how the body of a step can end after it has ended its transaction by SQL.
var waysToFail = map[string]func() error{
	"returns":   func() error { return nil },
	"fails":     func() error { return errors.New("after the end") },
	"panics":    func() error { panic("after the end") },
	"goes away": func() error { goruntime.Goexit(); return nil },
}

// endsItself registers a workflow whose step writes, ends its transaction by SQL, and ends in the
// way that its input names.
func endsItself[Tx any](n *runtime.Node, attempts *atomic.Int32, exec func(ctx context.Context, tx Tx, sql string) error) {
	runtime.Handle(n, greet, func(ctx workflow.Context, way string) (string, error) {
		return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx Tx) (string, error) {
			attempts.Add(1)
			for _, sql := range []string{"CREATE TABLE IF NOT EXISTS entries (id INTEGER)", "INSERT INTO entries VALUES (1)", "COMMIT"} {
				if err := exec(ctx, tx, sql); err != nil && sql != "COMMIT" {
					return "", err
				}
			}
			return "", waysToFail[way]()
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 5}})
	}, nil)
}

func wantEndedOnce(t *testing.T, client *runtime.Client, attempts *atomic.Int32) {
	for way := range waysToFail {
		attempts.Store(0)
		ctx := clustertest.Context(t)
		run, err := runtime.Start(ctx, client, greet, way, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Result(ctx)
		f := clustertest.WantError[*runtime.FailedError](t, err)
		if !strings.Contains(f.Error(), "the body of the step has ended its transaction by SQL of its own") || attempts.Load() != 1 {
			t.Errorf("%s: %d attempts, %v", way, attempts.Load(), f)
		}
	}
}

// What the body of a step has committed itself is not done again, however the body ends.
func TestStepTxThatEndsItselfIsNotRepeated(t *testing.T) {
	var attempts atomic.Int32
	t.Run("postgres", func(t *testing.T) {
		c := clustertest.New(t)
		conn := c.Connect()
		n := c.Run(nil, func(n *runtime.Node) {
			endsItself(n, &attempts, func(ctx context.Context, tx pgx.Tx, sql string) error {
				_, err := tx.Exec(ctx, sql)
				return err
			})
		})
		wantEndedOnce(t, n.Client(), &attempts)
		if got := clustertest.Query[int](t, conn, "SELECT count(*)::int FROM entries"); got != len(waysToFail) {
			t.Errorf("%d effects, want %d", got, len(waysToFail))
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "journal.db"), new(clustertest.Log), func(n *runtime.Node) {
			endsItself(n, &attempts, func(ctx context.Context, tx *sql.Tx, sql string) error {
				_, err := tx.ExecContext(ctx, sql)
				return err
			})
		})
		wantEndedOnce(t, n.Client(), &attempts)
	})
}
