package runtime_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

var errAnswerLost = errors.New("the answer was lost")

// lossyStore loses the answer to its first start.
type lossyStore struct {
	*postgres.Store
	lost atomic.Bool
}

func (s *lossyStore) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	out, err := s.Store.Start(ctx, tx, starts)
	if s.lost.CompareAndSwap(false, true) {
		return nil, errAnswerLost
	}
	return out, err
}

// A node finds a run that it owns since its start, although the answer to the start was lost.
func TestStartWithoutAnAnswerRuns(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	store, err := postgres.Open(ctx, c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	n := c.RunOn(journal.New(&lossyStore{Store: store}, nil), nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(_ workflow.Context, in string) (string, error) { return "hello " + in, nil }, nil)
	})
	if _, err := runtime.Start(ctx, n.Client(), greet, "you", &runtime.StartOptions{Key: "k"}); !errors.Is(err, errAnswerLost) {
		t.Fatalf("got %v", err)
	}
	id, err := n.Client().FindKey(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runtime.RunOf(n.Client(), greet, id).Result(ctx); err != nil || got != "hello you" {
		t.Errorf("got %q, %v", got, err)
	}
}
