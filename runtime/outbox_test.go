package runtime_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const outbox workflow.Name[int, int] = "outbox"

// outboxes are runs each of which has a body that sends to another run by its transaction, and goes
// on only when later turns of all these runs have been written.
type outboxes struct {
	client *runtime.Client
	to     map[journal.RunID]journal.RunID
	known  chan struct{} // closed when to and client are there
	sent   sync.WaitGroup
	moved  sync.WaitGroup
}

func (o *outboxes) tell(ctx context.Context, tx pgx.Tx) (int, error) {
	<-o.known
	if _, err := clustertest.Enter(ctx, tx); err != nil {
		return 0, err
	}
	info, _ := workflow.StepInfo(ctx)
	if err := runtime.Signal(ctx, o.client, o.to[info.Run], number, 7, &runtime.SignalOptions{Tx: postgres.InTx(tx)}); err != nil {
		return 0, err
	}
	o.sent.Done()
	o.moved.Wait()
	return 1, nil
}

func (o *outboxes) run(ctx workflow.Context, _ int) (int, error) {
	tell := workflow.StepTxAsync(ctx, "tell", o.tell, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
	if err := workflow.Do(ctx, "wait", func(context.Context) error { o.sent.Wait(); return nil }, nil); err != nil {
		return 0, err
	}
	// This step starts when a turn of the run is written.
	if err := workflow.Do(ctx, "move", func(context.Context) error { o.moved.Done(); return nil }, nil); err != nil {
		return 0, err
	}
	told, err := tell.Get(ctx)
	if err != nil {
		return 0, err
	}
	got, err := number.Receive(ctx)
	return told + got, err
}

// Bodies of steps send by their transactions while the receivers go on: to their own run, and to
// each other's.
func TestStepsSendByTheirTransactions(t *testing.T) {
	for name, n := range map[string]int{"to its own run": 1, "to each other": 2} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			conn := c.Account()
			o := &outboxes{to: map[journal.RunID]journal.RunID{}, known: make(chan struct{})}
			o.sent.Add(n)
			o.moved.Add(n)
			node := c.Run(nil, func(n *runtime.Node) { runtime.Handle(n, outbox, o.run, nil) })
			ctx := clustertest.Context(t)
			var runs []*runtime.Run[int]
			for range n {
				run, err := runtime.Start(ctx, node.Client(), outbox, 0, nil)
				runs = append(runs, clustertest.MustStart(t, run, err))
			}
			for i := range runs {
				o.to[runs[i].ID()] = runs[(i+1)%n].ID()
			}
			o.client = node.Client()
			close(o.known)
			for _, run := range runs {
				if got := clustertest.MustResult(t, run); got != 8 {
					t.Errorf("got %d, want 8", got)
				}
			}
			if got := clustertest.Entries(t, conn); got != n {
				t.Errorf("%d entries, want %d", got, n)
			}
		})
	}
}
