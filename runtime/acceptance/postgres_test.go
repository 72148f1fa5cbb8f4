package acceptance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// ledger is a workflow of n transactional steps with an entry each, and a short sleep and a plain
// step after each.
func ledger(ctx workflow.Context, n int) (int, error) {
	for i := range n {
		_, err := workflow.StepTx(ctx, "enter", func(ctx context.Context, tx pgx.Tx) (int, error) {
			info, _ := workflow.StepInfo(ctx)
			_, err := tx.Exec(ctx, `INSERT INTO account VALUES ($1)`, fmt.Sprintf("%s/%d", info.Run, i))
			return i, err
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 5 * time.Millisecond, Max: 50 * time.Millisecond}})
		if err != nil {
			return 0, err
		}
		if err := workflow.Sleep(ctx, 10*time.Millisecond); err != nil {
			return 0, err
		}
		if err := step(ctx, "plain"); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func handleLedger(n *runtime.Node) {
	runtime.Handle(n, count, ledger, nil)
	handleTally(n)
}

// throughChaos executes ledgers, so many at a time, while chaos runs, until chaos has struck often
// enough. It checks that every effect happened once. chaos returns how often it struck.
func throughChaos(c *clustertest.Cluster, client *runtime.Client, abreast, steps, enough int, chaos func(ctx context.Context) int) {
	c.T.Helper()
	conn := c.Account()
	ctx, stop := context.WithTimeout(context.Background(), 3*clustertest.Patience)
	defer stop()
	ends, cancel := context.WithCancel(ctx)
	var wg, disturbed sync.WaitGroup
	var struck, runs atomic.Int64
	for range abreast {
		wg.Go(func() {
			for first := true; first || struck.Load() < int64(enough); first = false {
				run, err := runtime.Start(ctx, client, count, steps, &runtime.StartOptions{Key: fmt.Sprintf("ledger:%d", runs.Add(1))})
				if err != nil {
					c.T.Error(err)
					return
				}
				if got, err := run.Result(ctx); err != nil || got != steps {
					c.T.Errorf("run %s ended with %d, %v", run.ID(), got, err)
					return
				}
			}
		})
	}
	disturbed.Go(func() {
		for ends.Err() == nil {
			struck.Add(int64(chaos(ends)))
		}
	})
	wg.Wait()
	cancel()
	disturbed.Wait()
	c.T.Logf("%d runs through %d blows", runs.Load(), struck.Load())
	if n, want := clustertest.Entries(c.T, conn), int(runs.Load())*steps; n != want {
		c.T.Errorf("%d entries, want %d", n, want)
	}
	if n := clustertest.Query[int](c.T, conn, `SELECT count(*) FROM (SELECT FROM account GROUP BY entry HAVING count(*) > 1) x`); n != 0 {
		c.T.Errorf("%d effects happened more than once", n)
	}
}

// TestListenerConnectionIsEnded: the connection on which a node listens is terminated again and
// again. Signals of another process arrive all the same, although the node does not poll: after
// each reconnection it looks at everything.
func TestListenerConnectionIsEnded(t *testing.T) {
	c := clustertest.New(t)
	o := c.Options()
	o.Poll = time.Hour
	c.Run(o, handleCollect)
	client, ctx, conn := runtime.NewClient(c.Journal, nil), clustertest.Context(t), c.Connect()
	const signals = 30
	started, err := runtime.Start(ctx, client, collect, signals, nil)
	run := clustertest.MustStart(t, started, err)
	ended := map[int]bool{}
	listener := func() int { // the session that does nothing but listen, and is asked whether it lives
		return clustertest.Query[int](t, conn, `SELECT coalesce(max(a.pid), 0) FROM pg_stat_activity a
			WHERE a.datname = current_database() AND (a.query LIKE 'LISTEN %' OR a.query = '-- ping')`)
	}
	for i := range signals {
		if i%6 == 0 {
			clustertest.Until(t, "the node listens", func() bool { return listener() != 0 })
			pid := listener()
			if ok := clustertest.Query[bool](t, conn, `SELECT pg_terminate_backend($1, 5000)`, pid); !ok {
				t.Fatalf("session %d does not end", pid)
			}
			ended[pid] = true
		}
		if err := runtime.Signal(ctx, client, run.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	got := clustertest.MustResult(t, run)
	for i := range got {
		if got[i] != i {
			t.Fatalf("signal %d came at position %d", got[i], i)
		}
	}
	if len(ended) != signals/6 {
		t.Errorf("%d sessions were ended, want %d", len(ended), signals/6)
	}
}

// TestEveryConnectionOfAClusterIsTerminated: the server terminates every connection of a cluster,
// one after the other, while runs continue. All runs complete, and each transactional effect
// happens once.
func TestEveryConnectionOfAClusterIsTerminated(t *testing.T) {
	c := clustertest.New(t)
	nodes := []*clustertest.Node{c.Run(nil, handleLedger), c.Run(nil, handleLedger)}
	admin := c.Connect()
	throughChaos(c, nodes[0].Client(), 40, 15, 8, func(ctx context.Context) (ended int) {
		rows, _ := admin.Query(ctx, `SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'reprise' ORDER BY backend_start`)
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			return 0 // the runs have ended
		}
		for _, pid := range pids {
			if _, err := admin.Exec(ctx, "SELECT pg_terminate_backend($1, 1000)", pid); err != nil {
				return ended
			}
			ended++
		}
		return ended
	})
}

// TestNetworkOfAClusterBreaks: the network of two nodes breaks again and again in the middle of a
// statement, before the server has received it or before the answer has arrived. All runs complete,
// and each transactional effect happens once.
func TestNetworkOfAClusterBreaks(t *testing.T) {
	c := clustertest.New(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // of the chaos goroutine alone
	var links []*pgtest.Link
	for range 2 {
		link := pgtest.Proxy(t, c.DSN)
		c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), nil, handleLedger)
		links = append(links, link)
	}
	throughChaos(c, runtime.NewClient(c.Journal, nil), 30, 10, 6, func(ctx context.Context) int {
		link, n, happened := links[random.IntN(2)], 1+random.IntN(8), make(chan struct{})
		arm := link.CutWhen
		if random.IntN(2) == 0 {
			arm = link.CutBefore
		}
		arm(func(p pgtest.Point) bool { return p.N >= n }, func() { close(happened) })
		select {
		case <-happened:
			return 1
		case <-ctx.Done():
			link.CutWhen(nil, nil)
			return 0
		}
	})
}

// TestClusterBehindAPooler: two nodes and a client connect through a real PgBouncer, in each mode
// that can work. Where a session lasts, or there is an address beside the pooler, hints tell
// everything: polling alone would take hours.
func TestClusterBehindAPooler(t *testing.T) {
	for name, c := range map[string]struct {
		mode           string
		pooler, beside bool
		poll           time.Duration
	}{
		"transaction":             {"transaction", true, false, 50 * time.Millisecond},
		"transaction, and beside": {"transaction", true, true, time.Hour},
		"session":                 {"session", false, false, time.Hour},
	} {
		t.Run(name, func(t *testing.T) { clusterBehindAPooler(t, c.mode, c.pooler, c.beside, c.poll) })
	}
}

func clusterBehindAPooler(t *testing.T, mode string, pooler, beside bool, poll time.Duration) {
	c := clustertest.New(t)
	b := pgtest.Bouncer(t, c.DSN, pgserver.PoolerOptions{Mode: mode})
	pooled := func() *journal.Journal {
		o := &postgres.Options{Pooler: pooler}
		if beside {
			o.ListenDSN = c.DSN
		}
		return journal.New(c.Store(b.DSN(c.DSN), o), nil)
	}
	for range 2 {
		o := c.Options()
		o.Poll = poll
		c.RunOn(pooled(), o, handleLedger)
	}
	client, ctx := runtime.NewClient(pooled(), &runtime.ClientOptions{Poll: poll}), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, collect, 20, nil)
	run := clustertest.MustStart(t, started, err)
	var sent atomic.Int32
	throughChaos(c, client, 5, 3, 0, func(ends context.Context) int {
		i := sent.Load()
		if i == 20 {
			<-ends.Done()
			return 0
		}
		if err := runtime.Signal(ctx, client, run.ID(), number, int(i), nil); err != nil {
			t.Error(err)
		}
		sent.Add(1)
		return 0
	})
	for i := int(sent.Load()); i < 20; i++ {
		if err := runtime.Signal(ctx, client, run.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range clustertest.MustResult(t, run) {
		if v != i {
			t.Errorf("signal %d came at position %d", v, i)
		}
	}
}

// TestStepsOfLongRunsCostTheSame: a step costs the same at the end of a long history as at its
// beginning: one commit, and no more rows read.
func TestStepsOfLongRunsCostTheSame(t *testing.T) {
	c := clustertest.New(t)
	short, long := 300, 1200
	always := os.Getenv("REPRISE_TEST_PASSIVATE") == "always"
	if always { // the history is read back after every step, so only commits can be compared
		short, long = 100, 400
	}
	conn := c.Connect()
	read := func() int { // of histories: polls and renewals read other tables, by time
		return clustertest.Query[int](t, conn, `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int FROM pg_stat_user_tables WHERE relname IN ('events', 'inbox')`)
	}
	cost := func(steps int) (rows int, commits, loads int32) {
		store := c.Store(c.DSN, nil)
		var nCommits, nLoads atomic.Int32
		observer := journal.Observer{Call: func(verb string, _, _ int, _ time.Duration, _ error) {
			switch verb {
			case "commit":
				nCommits.Add(1)
			case "load":
				nLoads.Add(1)
			}
		}}
		before := read()
		n := c.RunOn(journal.New(store, &journal.Options{Observer: observer}), nil, func(n *runtime.Node) {
			runtime.Handle(n, count, func(ctx workflow.Context, steps int) (int, error) {
				for range steps {
					if err := step(ctx, "same"); err != nil {
						return 0, err
					}
				}
				return steps, nil
			}, nil)
		})
		started, err := runtime.Start(clustertest.Context(t), n.Client(), count, steps, nil)
		clustertest.MustResult(t, clustertest.MustStart(t, started, err))
		n.Stop()
		store.Close()
		clustertest.Until(t, "all sessions have reported and ended", func() bool {
			return clustertest.Query[int](t, conn, `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`) <= 1
		})
		return read() - before, nCommits.Load(), nLoads.Load()
	}
	few, _, _ := cost(short)
	many, commits, loads := cost(long)
	t.Logf("events read: %d by %d steps, %d by %d", few, short, many, long)
	if !always && many > long+long/10 { // each step reads the newest event: its head
		t.Errorf("%d steps read %d events, %d steps %d", short, few, long, many)
	}
	if int(commits) > long+2 || !always && loads > 2 {
		t.Errorf("%d steps took %d commits and %d loads", long, commits, loads)
	}
}
