package runtime_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// countingStore counts its claims, each of which takes a moment.
type countingStore struct {
	*memory.Store
	claims atomic.Int64
}

func (s *countingStore) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	s.claims.Add(1)
	time.Sleep(time.Millisecond)
	return s.Store.Claim(ctx, r)
}

// A node whose estimate of the store's clock is ahead does not claim again and again while the
// store finds the task not due yet.
func TestNoHotPollAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var behind atomic.Int64
		s := &countingStore{Store: memory.New(&memory.Options{
			Now: func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) },
		})}
		n := runtime.NewNode(journal.New(s, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
		runtime.Handle(n, greet, func(workflow.Context, string) (string, error) { return "", nil }, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		synctest.Wait()
		run, err := runtime.Start(ctx, n.Client(), greet, "", &runtime.StartOptions{Delay: 9 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * time.Second)
		behind.Store(int64(1900 * time.Millisecond)) // less than what makes the estimate follow
		before := s.claims.Load()
		if _, err := run.Result(ctx); err != nil {
			t.Error(err)
		}
		if n := s.claims.Load() - before; n > 20 {
			t.Errorf("%d claims", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // the last timers end
	})
}

// A full node that knows of due tasks claims them as soon as it has room, and not at its next look:
// when a run is over, and when a body that has outlived its run gives its slot back.
func TestRoomIsUsedAtOnce(t *testing.T) {
	for name, o := range map[string]struct {
		node runtime.NodeOptions
		step *workflow.StepOptions
	}{
		"LiveMax": {runtime.NodeOptions{LiveMax: 1}, nil},
		"StepsMax": {runtime.NodeOptions{StepsMax: 1},
			&workflow.StepOptions{AttemptTimeout: 600 * time.Millisecond, Retry: &workflow.RetryPolicy{Attempts: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { useRoom(t, o.node, o.step) })
		})
	}
}

// useRoom executes five runs of 1.1 s each on a node that has room for one.
func useRoom(t *testing.T, o runtime.NodeOptions, step *workflow.StepOptions) {
	j := journal.New(memory.New(nil), nil)
	o.Poll, o.Lease, o.Logger = time.Hour, time.Minute, slog.New(slog.DiscardHandler)
	n := runtime.NewNode(j, &o)
	runtime.Handle(n, greet, func(ctx workflow.Context, _ string) (string, error) {
		_, err := workflow.Step(ctx, "work", func(context.Context) (string, error) {
			time.Sleep(1100 * time.Millisecond) // no multiple of the time between two looks
			return "", nil
		}, step)
		return "", err
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	synctest.Wait()
	began := time.Now()
	client := runtime.NewClient(j, nil)
	var runs []*runtime.Run[string]
	for range 5 {
		run, err := runtime.Start(ctx, client, greet, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // each is a hint of its own, all but the first while the node is full
		runs = append(runs, run)
	}
	for _, run := range runs {
		if _, err := run.Result(ctx); (err != nil) != (step != nil) {
			t.Errorf("the run ended with %v", err)
		}
	}
	if took := time.Since(began); took > 5500*time.Millisecond {
		t.Errorf("5 runs of 1.1 s took %s", took)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	time.Sleep(time.Hour) // the last timers end
}
