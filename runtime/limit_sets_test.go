package runtime_test

import (
	"context"
	"fmt"
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
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	sleeper  workflow.Name[time.Duration, int] = "sleeper"
	sharedBy workflow.Name[string, int]        = "shared step"
)

// roundsOf counts the rounds of limits of a store's members.
type roundsOf struct {
	driver.Store
	rounds atomic.Int64
}

type roundMember struct {
	driver.Membership
	of *roundsOf
}

func (s *roundsOf) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.Store.Join(ctx, n)
	return roundMember{m, s}, err
}

func (m roundMember) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	m.of.rounds.Add(1)
	return m.Membership.Limits(ctx, r)
}

// sleepers are runs that hold limits for as long as they say, and a step that needs one.
func sleepers(n *runtime.Node) {
	runtime.Handle(n, sleeper, func(ctx workflow.Context, d time.Duration) (int, error) { return 1, workflow.Sleep(ctx, d) }, nil)
	runtime.Handle(n, sharedBy, func(ctx workflow.Context, limit string) (int, error) {
		return workflow.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: limit}}})
	}, nil)
}

// limitBubble is a node on a store in memory, in the time of a bubble.
type limitBubble struct {
	*testing.T
	client *runtime.Client
	store  *roundsOf
}

func inLimitBubble(t *testing.T, test func(b *limitBubble)) {
	synctest.Test(t, func(t *testing.T) {
		store := &roundsOf{Store: memory.New(nil)}
		log := slog.New(slog.DiscardHandler)
		j := journal.New(store, nil)
		n := runtime.NewNode(j, &runtime.NodeOptions{Logger: log, Drain: time.Millisecond})
		sleepers(n)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		test(&limitBubble{t, runtime.NewClient(j, &runtime.ClientOptions{Logger: log}), store})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func (b *limitBubble) set(l journal.Limit) {
	b.Helper()
	if err := runtime.SetLimit(b.Context(), b.client, l); err != nil {
		b.Fatal(err)
	}
}

func (b *limitBubble) start(d time.Duration, needs ...journal.LimitNeed) *runtime.Run[int] {
	b.Helper()
	run, err := runtime.Start(b.Context(), b.client, sleeper, d, &runtime.StartOptions{Limits: needs})
	return clustertest.MustStart(b.T, run, err)
}

func (b *limitBubble) within(what string, d time.Duration, run *runtime.Run[int]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	if _, err := run.Result(ctx); err != nil {
		b.Errorf("%s: %v", what, err)
	}
}

// A tenant has 200 runs that wait for its own limit. Whoever needs only what the tenants share, a
// run or a step, begins at once, as does the run of another tenant when the shared limit becomes
// free.
func TestABacklogKeepsNobodyFromASharedLimit(t *testing.T) {
	t.Parallel()
	inLimitBubble(t, func(b *limitBubble) {
		b.set(journal.Limit{Name: "bank", Concurrency: 2})
		b.set(journal.Limit{Name: "calls", Rate: journal.Rate{N: 1, Per: 24 * time.Hour}})
		bank := journal.LimitNeed{Name: "bank"}
		of := func(tenant string) []journal.LimitNeed {
			return []journal.LimitNeed{bank, {Name: "calls", Key: tenant}}
		}
		first := b.start(time.Hour, of("a")...)
		b.start(2*time.Hour, bank)
		time.Sleep(time.Second)
		for range 200 {
			b.start(time.Millisecond, of("a")...)
		}
		time.Sleep(time.Minute)
		other := b.start(time.Millisecond, of("b")...)
		b.within("the one that holds the bank", 2*time.Hour, first)
		b.within("the run of another tenant", time.Minute, other)
		b.within("a run that needs the bank alone", time.Minute, b.start(time.Millisecond, bank))
		step, err := runtime.Start(b.Context(), b.client, sharedBy, "bank", nil)
		b.within("a step that needs the bank alone", time.Minute, clustertest.MustStart(b.T, step, err))
	})
}

// Of 100 tenants each waits for its own limit and for the Total of another one. An idle node makes
// no rounds meanwhile, and a tenant that needs the Total alone gets it.
func TestTenantsOfATotalThatWaitElsewhereCostNothing(t *testing.T) {
	t.Parallel()
	inLimitBubble(t, func(b *limitBubble) {
		b.set(journal.Limit{Name: "api", Total: 1})
		b.set(journal.Limit{Name: "own", Concurrency: 1})
		own := func(i int) journal.LimitNeed { return journal.LimitNeed{Name: "own", Key: fmt.Sprint(i)} }
		for i := range 100 {
			b.start(1000*time.Hour, own(i))
		}
		time.Sleep(time.Minute)
		y := b.start(time.Minute, journal.LimitNeed{Name: "api", Key: "y"})
		time.Sleep(time.Second)
		for i := range 100 {
			b.start(time.Millisecond, own(i), journal.LimitNeed{Name: "api", Key: fmt.Sprint(i)})
		}
		time.Sleep(time.Second)
		z := b.start(time.Millisecond, journal.LimitNeed{Name: "api", Key: "z"})
		b.within("the one that holds the Total", time.Hour, y)
		b.within("the one that needs the Total alone", time.Second, z)
		time.Sleep(time.Minute)
		before := b.store.rounds.Load()
		time.Sleep(time.Minute)
		if n := b.store.rounds.Load() - before; n > 10 {
			b.Errorf("%d rounds in a minute in which nothing happens", n)
		}
	})
}
