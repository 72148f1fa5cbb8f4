package runtime_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// slowStore has claims and starts that take long and take effect whether or not their caller still
// waits.
type slowStore struct {
	*memory.Store
	claim, start time.Duration
}

func (s *slowStore) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	time.Sleep(s.claim)
	return s.Store.Claim(context.WithoutCancel(ctx), r)
}

func (s *slowStore) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	time.Sleep(s.start)
	return s.Store.Start(context.WithoutCancel(ctx), tx, starts)
}

// A node that drains does not leave while a claim or a start is in flight that makes it the owner
// of a run.
func TestNobodyOwnsRunsAfterLeaving(t *testing.T) {
	for name, s := range map[string]slowStore{
		"a slow claim":               {claim: time.Second},
		"a claim that heeds nothing": {claim: 5 * time.Second},
		"a slow start":               {start: time.Second},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { drainDuring(t, s) }) })
	}
}

// drainDuring has a node drain while a slow call is in flight.
func drainDuring(t *testing.T, s slowStore) {
	s.Store = memory.New(nil)
	n := runtime.NewNode(journal.New(&s, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	runtime.Handle(n, greet, func(workflow.Context, string) (string, error) { return "", nil }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	synctest.Wait()
	client := n.Client() // its start is the slow call, or meets the claim
	if s.claim > 0 {
		client = runtime.NewClient(journal.New(s.Store.Peer(), nil), nil)
	}
	started := make(chan error, 1)
	go func() {
		_, err := runtime.Start(t.Context(), client, greet, "", nil)
		started <- err
	}()
	synctest.Wait()
	cancel()
	began := time.Now()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < max(s.claim, s.start) {
		t.Errorf("left after %s, while the call was under way", took)
	}
	if err := <-started; err != nil {
		t.Error(err)
	}
	time.Sleep(max(s.claim, s.start)) // whatever was in flight has taken effect
	if nodes := s.Snapshot().Nodes; len(nodes) > 0 {
		t.Errorf("nodes %v", nodes)
	}
	runs := s.Snapshot().Runs
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	if task := runs[0].Run.Task; task != nil && task.Owner != 0 {
		t.Errorf("the run belongs to node %d, which has left", task.Owner)
	}
	time.Sleep(time.Minute) // the last timers end
}
