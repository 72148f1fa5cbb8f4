package runtime_test

import (
	"context"
	"log/slog"
	"sync"
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

// distantStore is a store across a network: what it writes takes a moment, hints take one too, and
// rounds of limits wait for each other.
type distantStore struct {
	*memory.Store
	locks chan struct{} // of all limits
}

const (
	distantWork = 1500 * time.Microsecond // of a transaction
	distantTrip = 200 * time.Microsecond
	distantHint = time.Millisecond
)

func (s *distantStore) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	time.Sleep(distantWork)
	return s.Store.Start(ctx, tx, starts)
}

func (s *distantStore) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	time.Sleep(distantWork)
	return s.Store.Commit(ctx, commits)
}

func (s *distantStore) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	time.Sleep(distantWork)
	return s.Store.Claim(ctx, r)
}

func (s *distantStore) Hints() driver.Hints { return distantHints{s.Store.Hints()} }

func (s *distantStore) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.Store.Join(ctx, n)
	return &distantMember{m, s}, err
}

type distantHints struct{ driver.Hints }

func (h distantHints) Notify(list []driver.Hint) {
	time.AfterFunc(distantHint, func() { h.Hints.Notify(list) })
}

type distantMember struct {
	driver.Membership
	s *distantStore
}

func (m *distantMember) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	time.Sleep(distantTrip)
	if r.Size() == 0 { // it takes no lock
		return m.Membership.Limits(ctx, r)
	}
	m.s.locks <- struct{}{}
	defer func() { <-m.s.locks }()
	time.Sleep(distantTrip)
	if err := r.Gather(); err != nil {
		return driver.LimitAnswer{}, err
	}
	time.Sleep(distantWork)
	return m.Membership.Limits(ctx, r)
}

// One limit of as many places as two nodes have slots costs little of what they do without it: no
// node holds places that it cannot use, and no place is empty for longer than a round takes. Time
// is the bubble's, so the machine does not count.
func TestALimitCostsLittleOfTheRate(t *testing.T) {
	ended := map[bool]int64{}
	for _, limited := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { ended[limited] = stepsUnderLoad(t, limited) })
	}
	share := float64(ended[true]) / float64(ended[false])
	t.Logf("%d steps without the limit, %d with it: %.2f", ended[false], ended[true], share)
	if share < 0.89 {
		t.Errorf("with a limit %.2f of the steps end, want 0.89", share)
	}
}

// stepsUnderLoad is how many steps end in a second.
func stepsUnderLoad(t *testing.T, limited bool) int64 {
	const (
		places  = 20
		callers = 100
		name    = workflow.Name[bool, int]("paced")
	)
	base, locks := memory.New(nil), make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var holds, ended atomic.Int64
	var nodes, load sync.WaitGroup
	var clients []*runtime.Client
	for range 2 {
		store := &distantStore{base.Peer(), locks}
		n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler), StepsMax: places / 2})
		runtime.Handle(n, name, func(ctx workflow.Context, limited bool) (int, error) {
			o := &workflow.StepOptions{}
			if limited {
				o.Limits = []workflow.StepLimit{{Name: "paced"}}
			}
			return workflow.Step(ctx, "call", func(context.Context) (int, error) {
				if now := holds.Add(1); now > places {
					t.Errorf("%d bodies at once", now)
				}
				time.Sleep(25 * time.Millisecond)
				holds.Add(-1)
				ended.Add(1)
				return 1, nil
			}, o)
		}, nil)
		nodes.Go(func() {
			if err := n.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		clients = append(clients, n.Client())
	}
	synctest.Wait()
	if err := runtime.SetLimit(ctx, clients[0], journal.Limit{Name: "paced", Concurrency: places}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	for i := range callers {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				run, err := runtime.Start(ctx, clients[i%2], name, limited, nil)
				if err == nil {
					_, err = run.Result(ctx)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond) // until all nodes are at it
	before := ended.Load()
	time.Sleep(time.Second)
	count := ended.Load() - before
	close(stop)
	load.Wait()
	cancel()
	nodes.Wait()
	time.Sleep(time.Minute) // the last timers end
	return count
}
