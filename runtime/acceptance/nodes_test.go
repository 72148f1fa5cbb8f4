package acceptance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// hanging registers a step that lasts until its context ends or, on a second node, returns at once.
func hanging(hangs bool, began chan<- time.Time) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "long", func(ctx context.Context) (string, error) {
				began <- time.Now()
				if hangs {
					<-ctx.Done()
					return "", context.Cause(ctx)
				}
				return in, nil
			}, nil)
		}, nil)
	}
}

// TestRunsOfAGoneNodeGoOnInTime: with default options, another node takes over the runs of a node
// that is gone: after its grace if its sessions have ended, else when its lease runs out. Nodes
// look for expired leases nine times in a lease.
func TestRunsOfAGoneNodeGoOnInTime(t *testing.T) {
	const lease, look = 10 * time.Second, 2500 * time.Millisecond
	for name, tc := range map[string]struct {
		gone func(l *pgtest.Link)
		max  time.Duration
	}{
		"killed": {func(l *pgtest.Link) { l.Refuse(true); l.Cut() }, lease / 2},
		"silent": {func(l *pgtest.Link) { l.Stall() }, lease + look},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			link := pgtest.Proxy(t, c.DSN)
			began := make(chan time.Time, 10)
			o := c.Options()
			o.Drain = 50 * time.Millisecond // of the end of the test
			a := c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), o, hanging(true, began))
			t.Cleanup(func() { link.Refuse(false); link.Resume() })
			ctx := clustertest.Context(t)
			started, err := runtime.Start(ctx, a.Client(), greet, "moved", nil)
			run := clustertest.MustStart(t, started, err)
			<-began
			b := c.Run(nil, hanging(false, began))
			if b.ID() == a.ID() {
				t.Fatal("two nodes have one id")
			}
			untilJudged(c, 2)
			// The last renewal before this moment cannot be younger than it.
			gone := time.Now()
			tc.gone(link)
			took := (<-began).Sub(gone)
			t.Logf("the step began again after %s", took)
			if took > tc.max+time.Second {
				t.Errorf("the step began again after %s, want at most %s", took, tc.max+time.Second)
			}
			clustertest.MustResult(t, runtime.RunOf(b.Client(), greet, run.ID()))
		})
	}
}

// TestLoserOfATransactionalStepLeavesNothing: two nodes execute one transactional step, because the
// first was thought dead. The second commits. The writes of the first are rolled back, although its
// transaction was complete and its connection never failed.
func TestLoserOfATransactionalStepLeavesNothing(t *testing.T) {
	c := clustertest.New(t)
	conn := c.Account()
	register := func(who string) func(n *runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
				return workflow.StepTx(ctx, "enter", func(ctx context.Context, tx pgx.Tx) (string, error) {
					_, err := tx.Exec(ctx, `INSERT INTO account VALUES ($1)`, who)
					return who, err
				}, nil)
			}, nil)
		}
	}
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	arrived, loser := make(chan struct{}), make(chan struct{})
	letGo := sync.OnceFunc(func() { close(loser) })
	store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
		if clustertest.Closes(commits) {
			store.BeforeCommit(nil)
			close(arrived)
			<-loser
		}
		return nil
	})
	a := c.RunOn(journal.New(store, nil), nil, register("loser"))
	t.Cleanup(letGo)
	first := a.ID()
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, greet, "", nil)
	run := clustertest.MustStart(t, started, err)
	<-arrived
	if _, err := c.Connect().Exec(ctx, `UPDATE reprise.members SET lost_at = now() WHERE node = $1`, int32(first)); err != nil {
		t.Fatal(err)
	}
	c.Run(nil, register("winner"))
	if got := clustertest.MustResult(t, run); got != "winner" {
		t.Errorf("the run got %q", got)
	}
	letGo()
	clustertest.Until(t, "the loser has joined anew", func() bool { return a.ID() > first })
	if got := clustertest.Query[string](t, conn, `SELECT string_agg(entry, ' ') FROM account`); got != "winner" {
		t.Errorf("entries: %s", got)
	}
}

// TestZombieDoesNotCompleteATerminatedRun: an operator terminates a run while the commit that
// completes it is in flight. The run stays terminated.
func TestZombieDoesNotCompleteATerminatedRun(t *testing.T) {
	c := clustertest.New(t)
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	arrived, zombie := make(chan struct{}), make(chan struct{})
	letGo := sync.OnceFunc(func() { close(zombie) })
	store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
		if clustertest.Closes(commits) {
			store.BeforeCommit(nil)
			close(arrived)
			<-zombie
		}
		return nil
	})
	n := c.RunOn(journal.New(store, nil), nil, func(n *runtime.Node) { runtime.Handle(n, count3, threeSteps, nil) })
	t.Cleanup(letGo)
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, count3, 1, nil)
	run := clustertest.MustStart(t, started, err)
	<-arrived
	if err := client.Terminate(ctx, run.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	letGo()
	_, err = run.Result(ctx)
	clustertest.WantError[*runtime.TerminatedError](t, err)
	// The node has seen the refusal when it has completed another run.
	other, err := runtime.Start(ctx, n.Client(), count3, 2, nil)
	clustertest.MustResult(t, clustertest.MustStart(t, other, err))
	d, err := client.Describe(ctx, run.ID())
	if err != nil || d.Run.Status != journal.Terminated || d.Run.Terminal.Kind != journal.RunTerminated {
		t.Errorf("%+v, %v", d, err)
	}
	list := clustertest.Kinds(t, client, run.ID())
	if n := clustertest.Count(list, journal.RunCompleted); n != 0 || list[len(list)-1] != journal.RunTerminated {
		t.Errorf("history %v", list)
	}
}

// TestWaitsEndWithTheirContext: calls return when their context ends, even if the database does not
// answer.
func TestWaitsEndWithTheirContext(t *testing.T) {
	c := clustertest.New(t)
	link := pgtest.Proxy(t, c.DSN)
	client := runtime.NewClient(journal.New(c.Store(link.DSN(), nil), nil), nil)
	started, err := runtime.Start(clustertest.Context(t), client, collect, 1, nil)
	run := clustertest.MustStart(t, started, err)
	link.Stall()
	t.Cleanup(link.Resume)
	for name, call := range map[string]func(ctx context.Context) error{
		"result": func(ctx context.Context) error { _, err := run.Result(ctx); return err },
		"start":  func(ctx context.Context) error { _, err := runtime.Start(ctx, client, collect, 1, nil); return err },
		"signal": func(ctx context.Context) error { return runtime.Signal(ctx, client, run.ID(), number, 1, nil) },
		"cancel": func(ctx context.Context) error { return client.Cancel(ctx, run.ID(), "") },
		"list":   func(ctx context.Context) error { _, err := client.List(ctx, journal.ListFilter{}); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		began := time.Now()
		err := call(ctx)
		took := time.Since(began)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, journal.ErrUnavailable) || took > 3*time.Second {
			t.Errorf("%s returned after %s with %v", name, took, err)
		}
	}
}

// handleTallyAndRetries registers tallies, and sleepers whose last step fails twice before it
// succeeds.
func handleTallyAndRetries(n *runtime.Node) {
	handleTally(n)
	runtime.Handle(n, sleeper, func(ctx workflow.Context, d time.Duration) (string, error) {
		if err := workflow.Sleep(ctx, d); err != nil {
			return "", err
		}
		return workflow.Step(ctx, "flaky", func(ctx context.Context) (string, error) {
			// By its own attempts: a count that runs share would let one of them fail for long, by
			// chance.
			if a, _ := workflow.StepInfo(ctx); a.Attempt%3 != 0 {
				return "", errors.New("again")
			}
			return "slept", nil
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 10 * time.Millisecond}})
	}, nil)
}

// TestEverythingResumesAfterTheDatabaseIsBack: the database is killed and stays away for longer
// than the leases. When it is back, claims, timers, retries and hints work again without a restart,
// and the nodes have joined again.
func TestEverythingResumesAfterTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	server := clustertest.Server(t)
	dsn := server.DSN("postgres")
	c := clustertest.On(t, dsn)
	var nodes []*clustertest.Node
	var before []journal.NodeID
	for range 2 {
		o := c.Options()
		o.Lease, o.Drain, o.Poll = 1500*time.Millisecond, 50*time.Millisecond, time.Hour // hints have to come back
		n := c.Run(o, handleTallyAndRetries)
		nodes, before = append(nodes, n), append(before, n.ID())
	}
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	var sleepers []*runtime.Run[string]
	var tallies []*runtime.Run[[]int]
	for i := range 20 {
		s, err := runtime.Start(ctx, client, sleeper, time.Duration(1+i*200)*time.Millisecond, nil)
		sleepers = append(sleepers, clustertest.MustStart(t, s, err))
		k, err := runtime.Start(ctx, client, collect, 3, nil)
		tallies = append(tallies, clustertest.MustStart(t, k, err))
		if err := runtime.Signal(ctx, client, tallies[i].ID(), number, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { // asked for during the outage, done after it
		for _, k := range tallies {
			if err := runtime.Signal(ctx, client, k.ID(), number, 1, nil); err != nil {
				t.Error(err)
			}
		}
	})
	clustertest.Until(t, "the nodes have lost their leases", func() bool { return nodes[0].ID() == 0 && nodes[1].ID() == 0 })
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for _, k := range tallies {
		if err := runtime.Signal(ctx, client, k.ID(), number, 2, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range tallies {
		if got := clustertest.MustResult(t, k); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("run %s got %v", k.ID(), got)
		}
	}
	for _, s := range sleepers {
		clustertest.MustResult(t, s)
	}
	clustertest.Until(t, "the nodes are members again", func() bool { return nodes[0].ID() > before[1] && nodes[1].ID() > before[1] })
	started, err := runtime.Start(ctx, client, sleeper, time.Millisecond, nil)
	clustertest.MustResult(t, clustertest.MustStart(t, started, err))
	pgtest.Check(t, dsn, pgtest.Schema)
}

// comparedStore counts how often a node has asked what it owns.
type comparedStore struct {
	*postgres.Store
	comparisons atomic.Int32
}

type comparedMember struct {
	driver.Membership
	s *comparedStore
}

func (s *comparedStore) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.Store.Join(ctx, n)
	return &comparedMember{m, s}, err
}

func (m *comparedMember) Owned(ctx context.Context) ([]driver.Holding, error) {
	m.s.comparisons.Add(1)
	return m.Membership.Owned(ctx)
}

// TestComparisonsDisturbNobody: a node that is busy with short runs compares what it owns with what
// the store says, again and again. Nothing is wrong, so no run is given up.
func TestComparisonsDisturbNobody(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.Lease = 1500 * time.Millisecond // a comparison every three seconds
	store := &comparedStore{Store: c.Store(c.DSN, nil)}
	n := c.RunOn(journal.New(store, nil), o, func(n *runtime.Node) { runtime.Handle(n, count3, threeSteps, nil) })
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			for k := 0; store.comparisons.Load() < 3 && ctx.Err() == nil; k++ {
				run, err := runtime.Start(ctx, n.Client(), count3, i, nil)
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
	callers.Wait()
	for line := range strings.Lines(c.Log.String()) {
		if strings.Contains(line, "given up") || strings.Contains(line, "is released") {
			t.Error(line)
		}
	}
}
