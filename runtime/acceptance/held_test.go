package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// gated is a run that executes a step and then receives two numbers.
const gated workflow.Name[string, int] = "gated"

// TestAnOpenTransactionHoldsUpItsRunsOnly: a program sends signals and starts a run under a key in
// a transaction of its own, and leaves that open. The run's next turn, another message to it, and
// another start under the key wait for the transaction, and a line in the log names the run. All
// other runs, messages and starts of the node go on.
func TestAnOpenTransactionHoldsUpItsRunsOnly(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	const many = 12 // more than there are writers of commits
	began, gate := make(chan struct{}), make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) {
		handleTally(n)
		runtime.Handle(n, gated, func(ctx workflow.Context, _ string) (int, error) {
			_, err := workflow.Step(ctx, "wait", func(context.Context) (int, error) {
				began <- struct{}{}
				<-gate
				return 0, nil
			}, nil)
			if err != nil {
				return 0, err
			}
			first, err := number.Receive(ctx)
			if err != nil {
				return 0, err
			}
			second, err := number.Receive(ctx)
			return 10*first + second, err
		}, nil)
	})
	client := n.Client()
	var runs [many]*runtime.Run[int]
	for i := range runs {
		started, err := runtime.Start(ctx, client, gated, "", nil)
		runs[i] = clustertest.MustStart(t, started, err)
		<-began
	}
	run := runs[0]
	tx, err := c.Connect().Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if err := runtime.Signal(ctx, client, run.ID(), number, 1, &runtime.SignalOptions{Tx: postgres.InTx(tx)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := runtime.Start(ctx, client, collect, 0, &runtime.StartOptions{Key: "k", Tx: postgres.InTx(tx)}); err != nil {
		t.Fatal(err)
	}
	var waits, short sync.WaitGroup
	signal := func(run *runtime.Run[int]) {
		waits.Go(func() {
			if err := runtime.Signal(ctx, client, run.ID(), number, 2, nil); err != nil {
				t.Error(err)
			}
		})
	}
	// One call of the store waits for its row as long as it takes and has a line of its own. That is
	// this signal, so that all that follows is told who holds it up.
	signal(run)
	const takesLong = "a call of the store takes long, because another transaction has locked a row, much is on its way, or the server is silent; others go on"
	clustertest.Until(t, "there is the line: "+takesLong, func() bool { return strings.Contains(c.Log.String(), takesLong) })
	for range runs { // one after the other, each has a turn to write
		gate <- struct{}{}
	}
	for _, run := range runs[1:] {
		signal(run)
	}
	const keyHeld = "another transaction has started a run under a key and is open; the start waits until that ends"
	short.Go(func() {
		for again := true; again; again = ctx.Err() == nil && !strings.Contains(c.Log.String(), keyHeld) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			_, err := runtime.Start(ctx, client, collect, 0, &runtime.StartOptions{Key: "k"})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a start under the key: %v, want %v", err, context.DeadlineExceeded)
				return
			}
		}
	})
	var others sync.WaitGroup
	for i := range 100 {
		others.Go(func() {
			for k := range 3 {
				one, err := runtime.Start(ctx, client, collect, 2, &runtime.StartOptions{Key: fmt.Sprint(i, "/", k)})
				if err != nil {
					t.Error(err)
					return
				}
				for v := range 2 {
					if err := runtime.Signal(ctx, client, one.ID(), number, v, nil); err != nil {
						t.Error(err)
					}
				}
				if got, err := one.Result(ctx); err != nil || len(got) != 2 {
					t.Errorf("result %v, %v", got, err)
				}
			}
		})
	}
	others.Wait()
	for what, name := range map[string]string{"a run": run.ID().String(), "the key": "reprise.key=k"} {
		clustertest.Until(t, "a line names "+what+" that is held", func() bool {
			for line := range strings.Lines(c.Log.String()) {
				if strings.Contains(line, "another transaction has") && strings.Contains(line, name) {
					return true
				}
			}
			return false
		})
	}
	if d, err := client.Describe(ctx, run.ID()); err != nil || d.Run.Status != journal.Open {
		t.Errorf("the run that is held: %+v, %v", d, err)
	}
	for _, line := range []string{
		"another transaction has locked a run; its commit waits until that ends, other runs go on",
		"another transaction has locked a run; the message waits until that ends",
		keyHeld,
	} {
		clustertest.Until(t, "there is the line: "+line, func() bool { return strings.Contains(c.Log.String(), line) })
	}
	short.Wait()
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	waits.Wait()
	for _, run := range runs {
		if got, err := run.Result(ctx); err != nil || got != 12 {
			t.Errorf("got %d, %v; want the signal of the transaction and then the other one", got, err)
		}
	}
}
