package runtime_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// On SQLite the transaction of a step keeps all other writes waiting. Turns of its own run do not
// stand in its way, and it may send to its own run.
func TestStepTxOnSQLiteAmidTurns(t *testing.T) {
	var client *runtime.Client
	used := make(chan struct{}, 100)
	n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "journal.db"), new(clustertest.Log), func(n *runtime.Node) {
		client = n.Client()
		runtime.Handle(n, count, func(ctx workflow.Context, in int) (int, error) {
			own := ctx.Info().Run
			var list []workflow.Future[int]
			for range in {
				list = append(list, workflow.StepTxAsync(ctx, "tell", func(ctx context.Context, tx *sql.Tx) (int, error) {
					err := runtime.Signal(ctx, client, own, number, 1, &runtime.SignalOptions{Tx: sqlite.InTx(tx)})
					used <- struct{}{}
					return 1, err
				}, nil))
			}
			sum := 0
			for range in { // turns of the run while a body has the file
				if err := workflow.Do(ctx, "beside", func(context.Context) error { <-used; return nil }, nil); err != nil {
					return 0, err
				}
				v, err := number.Receive(ctx)
				if err != nil {
					return 0, err
				}
				sum += v
			}
			for _, f := range list {
				v, err := f.Get(ctx)
				if err != nil {
					return 0, err
				}
				sum += v
			}
			return sum, nil
		}, nil)
	})
	ctx := clustertest.Context(t)
	for range 10 {
		run, err := runtime.Start(ctx, n.Client(), count, 5, nil)
		if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != 10 {
			t.Fatalf("got %d, want 10", got)
		}
	}
}
