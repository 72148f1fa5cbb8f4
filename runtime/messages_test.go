package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	collect  workflow.Name[int, []int]     = "collect"
	waiter   workflow.Name[string, string] = "waiter"
	number   workflow.Signal[int]          = "number"
	approved workflow.Signal[string]       = "approved"
)

// collecting receives n numbers and returns them in order.
func collecting(ctx workflow.Context, n int) ([]int, error) {
	var got []int
	for len(got) < n {
		v, err := number.Receive(ctx)
		if err != nil {
			return nil, err
		}
		got = append(got, v)
	}
	return got, nil
}

func handleCollect(n *runtime.Node) { runtime.Handle(n, collect, collecting, nil) }

// Signals sent before anyone waits, before the run even has a node, arrive in order.
func TestSignalsAreBufferedBeforeAnyoneWaits(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(ctx, client, collect, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for i := range 50 {
		want = append(want, i)
		if err := runtime.Signal(ctx, client, run.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Run(nil, handleCollect)
	got, err := run.Result(ctx)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
}

// J5, J6: numbered signals against a run that parks between them, over two nodes: each once, in
// order.
func TestEverySignalOnceAndInOrder(t *testing.T) {
	c := clustertest.New(t)
	c.Run(nil, handleCollect)
	c.Run(nil, handleCollect)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	const n = 300
	run, err := runtime.Start(ctx, client, collect, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for range 2 { // the second is a duplicate
			if err := runtime.Signal(ctx, client, run.ID(), number, i, &runtime.SignalOptions{Key: fmt.Sprint(i)}); err != nil && !errors.Is(err, journal.ErrClosed) {
				t.Fatal(err)
			}
		}
	}
	got, err := run.Result(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != i {
			t.Fatalf("signal %d came at position %d", v, i)
		}
	}
}

func TestResultOfNobody(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	_, err := runtime.RunOf(client, collect, journal.NewRunID()).Result(clustertest.Context(t))
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestResultWaitEndsWithItsContext(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	run, err := runtime.Start(clustertest.Context(t), client, collect, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := run.Result(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}
