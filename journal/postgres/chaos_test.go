package postgres_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestEveryConnectionIsTerminatedInTurn: an administrator ends each session of the store, one after
// the other, while it works. Calls are repeated as they are, and nothing is lost or doubled.
func TestEveryConnectionIsTerminatedInTurn(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	w := newWorkload(t, driver.New(open(t, dsn, nil), nil), 200, 3)
	admin := connect(t, dsn)
	ended := map[int]bool{}
	w.run(func(ctx context.Context) {
		rows, _ := admin.Query(ctx, `SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'reprise' ORDER BY backend_start`)
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			return // the workload has ended
		}
		for _, pid := range pids {
			if ctx.Err() != nil {
				return
			}
			// The end of the last one is waited for, as it might be the session of the audit.
			if _, err := admin.Exec(context.WithoutCancel(ctx), "SELECT pg_terminate_backend($1, 10000)", pid); err != nil {
				t.Error(err)
				return
			}
			ended[pid] = true
		}
	})
	w.audit()
	if len(ended) == 0 {
		t.Error("no session was terminated: the test proves nothing")
	}
}

// TestConnectionsAreCutAtRandom: the network breaks at random messages, before or after the server
// has them. It breaks again when something came of the time between: a network that lets no call
// through proves nothing but that nothing gets through.
func TestConnectionsAreCutAtRandom(t *testing.T) {
	t.Parallel()
	link := pgtest.Proxy(t, pgtest.New(t))
	w := newWorkload(t, driver.New(open(t, link.DSN(), nil), nil), 60, 3)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // of the chaos goroutine alone
	cuts := 0
	w.run(func(ctx context.Context) {
		before := w.progress()
		eventuallyQuietly(func() bool { return ctx.Err() != nil || w.progress() > before })
		n, happened := 1+random.IntN(6), make(chan struct{})
		match := func(p pgtest.Point) bool { return p.N >= n }
		arm := link.CutWhen
		if random.IntN(2) == 0 {
			arm = link.CutBefore
		}
		arm(match, func() { close(happened) })
		select {
		case <-happened:
			cuts++
		case <-ctx.Done():
		}
	})
	link.CutWhen(nil, nil)
	w.audit()
	t.Logf("%d cuts", cuts)
	if cuts == 0 {
		t.Error("nothing was cut: the test proves nothing")
	}
}

// TestJ10_AcknowledgedWorkSurvivesKillOfTheDatabase kills the server again and again.
func TestJ10_AcknowledgedWorkSurvivesKillOfTheDatabase(t *testing.T) {
	t.Parallel()
	server := privateServer(t)
	dsn := server.DSN("postgres")
	w := newWorkload(t, driver.New(open(t, dsn, nil), nil), 150, 3)
	kills := 0
	w.run(func(ctx context.Context) {
		before := w.progress()
		eventuallyQuietly(func() bool { return ctx.Err() != nil || w.progress() > before+20 })
		if ctx.Err() != nil || kills == 3 {
			return
		}
		if err := server.Kill(); err != nil {
			t.Error(err)
		}
		if err := server.Restart(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
		kills++
	})
	w.audit()
	pgtest.Check(t, dsn, pgtest.Schema)
	if kills == 0 {
		t.Error("the database was never killed: the test proves nothing")
	}
}

func (w *workload) progress() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked) + len(w.done)
}

// listening is a store of another process, with what it heard.
type listening struct {
	t     *testing.T
	hints chan driver.Hint
}

func listen(t *testing.T, dsn string) *listening {
	t.Helper()
	l := &listening{t: t, hints: make(chan driver.Hint, 1000)}
	s := open(t, dsn, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Hints().Watch(ctx, func(h driver.Hint) { l.hints <- h })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return l
}

// hears waits for a hint and drops those before it.
func (l *listening) hears(want driver.Hint) {
	l.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case h := <-l.hints:
			if h == want {
				return
			}
		case <-deadline:
			l.t.Fatalf("the hint %+v did not arrive", want)
		}
	}
}

// TestHintsThatCannotBeSentAreMadeUpFor: other processes look at everything then, without a poll.
func TestHintsThatCannotBeSentAreMadeUpFor(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	other, link := listen(t, dsn), pgtest.Proxy(t, dsn)
	s := open(t, link.DSN(), nil)
	other.hears(driver.Hint{Kind: driver.HintScan}) // it listens
	lost := link.LoseRequest(1, "pg_notify")
	s.Hints().Notify([]driver.Hint{{Kind: driver.HintTasks}})
	<-lost
	other.hears(driver.Hint{Kind: driver.HintScan})
}

func TestHintsReachOtherProcesses(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	l := listen(t, dsn)
	l.hears(driver.Hint{Kind: driver.HintScan}) // whatever came before it listened
	run := journal.NewRunID()
	for _, h := range []driver.Hint{
		{Kind: driver.HintTasks}, {Kind: driver.HintInbox, Run: run, Node: 1<<31 - 1}, {Kind: driver.HintClosed, Run: run},
		{Kind: driver.HintWaiter}, {Kind: driver.HintScan},
	} {
		s.Hints().Notify([]driver.Hint{h})
		l.hears(h)
	}
	var many []driver.Hint
	for range 5000 {
		many = append(many, driver.Hint{Kind: driver.HintClosed, Run: journal.NewRunID()})
	}
	s.Hints().Notify(many) // more than a notification holds
	l.hears(driver.Hint{Kind: driver.HintScan})
}

func TestListenerSurvivesTermination(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	l := listen(t, dsn)
	admin := connect(t, dsn)
	for range 3 {
		l.hears(driver.Hint{Kind: driver.HintScan}) // after every gap
		mustExec(t, admin, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	l.hears(driver.Hint{Kind: driver.HintScan})
	eventually(t, "a hint arrives", func() bool { // those on terminated connections are lost, as hints may be
		s.Hints().Notify([]driver.Hint{{Kind: driver.HintTasks}})
		select {
		case h := <-l.hints:
			return h == driver.Hint{Kind: driver.HintTasks}
		default:
			return false
		}
	})
}

// TestListenerNoticesASilentFailure: nothing arrives any more and nobody says why. The listener
// asks, gets no answer, and connects anew.
func TestListenerNoticesASilentFailure(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	link := pgtest.Proxy(t, dsn)
	l := listen(t, link.DSN())
	l.hears(driver.Hint{Kind: driver.HintScan})
	link.Freeze()
	s.Hints().Notify([]driver.Hint{{Kind: driver.HintTasks}})
	began := time.Now()
	l.hears(driver.Hint{Kind: driver.HintScan})
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %s to notice", took)
	}
	s.Hints().Notify([]driver.Hint{{Kind: driver.HintTasks}})
	l.hears(driver.Hint{Kind: driver.HintTasks})
}
