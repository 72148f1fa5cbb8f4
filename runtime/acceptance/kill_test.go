package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// startChains starts n runs of steps effects each.
func (c *chaos) startChains(ctx context.Context, n, steps int) []*runtime.Run[int] {
	c.T.Helper()
	runs := make([]*runtime.Run[int], n)
	for i := range runs {
		run, err := runtime.Start(ctx, c.client, chain, steps, &runtime.StartOptions{Key: fmt.Sprintf("chain:%d", i)})
		if err != nil {
			c.T.Fatal(err)
		}
		runs[i] = run
	}
	return runs
}

// wantChains waits for every run and checks that each effect happened exactly once.
func (c *chaos) wantChains(ctx context.Context, runs []*runtime.Run[int], steps int) {
	c.T.Helper()
	for i, run := range runs {
		if got, err := run.Result(ctx); err != nil || got != steps {
			c.T.Fatalf("run %d (%s) ended with %d, %v", i, run.ID(), got, err)
		}
	}
	if n := c.number(`SELECT count(*) FROM effects`); n != len(runs)*steps {
		c.T.Errorf("%d effects, want %d", n, len(runs)*steps)
	}
	if n := c.number(`SELECT count(*) FROM (SELECT FROM effects GROUP BY run, step HAVING count(*) <> 1) x`); n != 0 {
		c.T.Errorf("%d effects did not happen exactly once", n)
	}
}

// TestKillsBetweenTurns: one of three nodes is killed, again and again, while 150 runs continue.
// Every run ends, and every transactional effect happens once.
func TestKillsBetweenTurns(t *testing.T) {
	c := newChaos(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	workers := []*worker{startWorker(c.Cluster), startWorker(c.Cluster), startWorker(c.Cluster)}
	const runs, steps, kills = 150, 12, 8
	started := c.startChains(ctx, runs, steps)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for k := range kills {
		victim := random.IntN(len(workers))
		want := c.number(`SELECT count(*) FROM effects`) + runs*steps/(kills+2)
		clustertest.Until(t, "the runs moved on", func() bool {
			return c.number(`SELECT count(*) FROM effects`) >= min(want, runs*steps)
		})
		workers[victim].kill()
		workers[victim] = startWorker(c.Cluster)
		t.Logf("kill %d of worker %d", k, victim)
	}
	c.wantChains(ctx, started, steps)
}

// TestKillInsideAStep: a node is killed inside a step. The step starts again on another node before
// the lease has run out, because the session of the killed process has ended (J3).
func TestKillInsideAStep(t *testing.T) {
	c := newChaos(t)
	ctx := clustertest.Context(t)
	a, b := startWorker(c.Cluster), startWorker(c.Cluster)
	untilJudged(c.Cluster, 2)
	run, err := runtime.Start(ctx, c.client, hold, "gate", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := c.began(run.ID(), 1)
	byPID := map[int]*worker{a.cmd.Process.Pid: a, b.cmd.Process.Pid: b}
	killed := time.Now()
	byPID[first].kill()
	second := c.began(run.ID(), 2)
	if took := time.Since(killed); took > 9*time.Second { // the default lease is 10 s
		t.Errorf("the step began again after %s: only the end of the lease was noticed", took)
	}
	c.exec(`INSERT INTO gates VALUES ('gate')`)
	got, err := run.Result(ctx)
	if err != nil || got != fmt.Sprint(second) || second == first {
		t.Fatalf("result by process %s, %v; began in %d, then in %d", got, err, first, second)
	}
}

// TestZombieAfterSIGSTOP: a node is stopped in the middle of a step, for longer than its lease, and
// continues after another node has taken the run over. Its write is refused, and it joins again as
// a new node (J3).
func TestZombieAfterSIGSTOP(t *testing.T) {
	c := newChaos(t)
	ctx := clustertest.Context(t)
	a := startWorker(c.Cluster, leaseEnv+"=1500ms")
	run, err := runtime.Start(ctx, c.client, hold, "gate", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := c.began(run.ID(), 1)
	a.signal(syscall.SIGSTOP)
	startWorker(c.Cluster, leaseEnv+"=1500ms")
	second := c.began(run.ID(), 2)
	c.exec(`INSERT INTO gates VALUES ('gate')`)
	got, err := run.Result(ctx)
	if err != nil || got != fmt.Sprint(second) || second == first {
		t.Fatalf("result by process %s, %v; began in %d, then in %d", got, err, first, second)
	}
	a.signal(syscall.SIGCONT)
	clustertest.Until(t, "the zombie noticed and joined anew", func() bool {
		return strings.Contains(c.Log.String(), "node lost its lease and joins again")
	})
	again, err := runtime.Start(ctx, c.client, chain, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Result(ctx); err != nil {
		t.Fatal(err)
	}
	if events, err := c.client.History(ctx, run.ID()); err != nil || len(events) != 3 {
		t.Errorf("history of %d events, %v; want the second owner's 3", len(events), err)
	}
}

// TestStoppedBeforeCommit: a node is stopped when a step has written in its transaction, and continues
// when another node has taken the run over and has done the same. It knows nothing of that yet: by its
// own clock its lease lasts. The commit is refused by what the row of the task says (J3), and what the
// step has written with it.
func TestStoppedBeforeCommit(t *testing.T) {
	c := newChaos(t)
	ctx := clustertest.Context(t)
	lock, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(ctx, `SELECT pg_advisory_lock($1)`, writeLock); err != nil {
		t.Fatal(err)
	}
	a := startWorker(c.Cluster)
	run, err := runtime.Start(ctx, c.client, write, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := c.began(run.ID(), 1)
	clustertest.Until(t, "the step waits for the lock", func() bool {
		return c.number(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted`, writeLock) == 1
	})
	a.signal(syscall.SIGSTOP)
	if err := lock.Close(ctx); err != nil {
		t.Fatal(err)
	}
	startWorker(c.Cluster)
	c.exec(fmt.Sprintf(`UPDATE reprise.nodes SET expires_at = now() - interval '1 s' WHERE name = 'child/%d'`, first))
	got, err := run.Result(ctx)
	if err != nil || got == fmt.Sprint(first) {
		t.Fatalf("result by process %s, %v; the first one was %d", got, err, first)
	}
	a.signal(syscall.SIGCONT)
	clustertest.Until(t, "the first transaction has ended", func() bool {
		return c.number(`SELECT count(*) FROM pg_locks WHERE relation = 'effects'::regclass AND mode = 'RowExclusiveLock'`) == 0
	})
	if n := c.number(`SELECT count(*) FROM effects WHERE run = $1 AND node = 'tx'`, run.ID().String()); n != 1 {
		t.Errorf("%d transactions of the step were committed", n)
	}
}

// TestRollingRestart: all nodes are replaced one after the other. SIGTERM drains a node, nothing
// fails, and every run continues elsewhere.
func TestRollingRestart(t *testing.T) {
	c := newChaos(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	workers := []*worker{startWorker(c.Cluster), startWorker(c.Cluster)}
	const steps = 12
	started := c.startChains(ctx, 100, steps)
	for range 2 {
		for i := range workers {
			fresh := startWorker(c.Cluster)
			workers[i].signal(syscall.SIGTERM)
			if err := workers[i].wait(); err != nil {
				t.Fatalf("draining ended with %v", err)
			}
			workers[i] = fresh
		}
	}
	c.wantChains(ctx, started, steps)
	if n := c.number(`SELECT count(*) FROM reprise.nodes`); n != 2 {
		t.Errorf("%d nodes, want the 2 that live", n)
	}
}

// TestKillDuringDrain: a node is killed while it drains. Its step starts again elsewhere.
func TestKillDuringDrain(t *testing.T) {
	c := newChaos(t)
	ctx := clustertest.Context(t)
	a := startWorker(c.Cluster)
	run, err := runtime.Start(ctx, c.client, hold, "gate", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.began(run.ID(), 1)
	a.signal(syscall.SIGTERM)
	clustertest.Until(t, "the drain has begun", func() bool { return strings.Contains(c.Log.String(), "node drains") })
	a.kill()
	startWorker(c.Cluster)
	c.began(run.ID(), 2)
	c.exec(`INSERT INTO gates VALUES ('gate')`)
	if _, err := run.Result(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestStepThatEndsDuringDrainIsRecorded: a step that ends while its node drains is recorded and
// does not run again.
func TestStepThatEndsDuringDrainIsRecorded(t *testing.T) {
	c := newChaos(t)
	ctx := clustertest.Context(t)
	a := startWorker(c.Cluster)
	run, err := runtime.Start(ctx, c.client, hold, "gate", nil)
	if err != nil {
		t.Fatal(err)
	}
	pid := c.began(run.ID(), 1)
	a.signal(syscall.SIGTERM)
	clustertest.Until(t, "the drain has begun", func() bool { return strings.Contains(c.Log.String(), "node drains") })
	c.exec(`INSERT INTO gates VALUES ('gate')`)
	if err := a.wait(); err != nil {
		t.Fatal(err)
	}
	got, err := run.Result(ctx)
	if err != nil || got != fmt.Sprint(pid) {
		t.Fatalf("result %q, %v; want it from %d", got, err, pid)
	}
	if n := c.number(`SELECT count(*) FROM effects`); n != 1 {
		t.Errorf("the step began %d times", n)
	}
}

// TestPoisonIsQuarantined: a run whose step kills its process is quarantined after some deaths, so
// that the next node survives and the other runs continue. A run that executes one long step beside
// it all the time is not. An operator can terminate the quarantined one.
func TestPoisonIsQuarantined(t *testing.T) {
	c := newChaos(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	beside, err := runtime.Start(ctx, c.client, hold, "gate", nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := runtime.Start(ctx, c.client, poison, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := startWorker(c.Cluster)
	state := func() (s journal.TaskState, owner journal.NodeID) {
		d, err := c.client.Describe(ctx, run.ID())
		if err != nil || d.Run.Task == nil {
			t.Fatalf("describe: %+v, %v", d, err)
		}
		return d.Run.Task.State, d.Run.Task.Owner
	}
	// A death while the run beside it is a suspect of the same node counts against neither.
	const deathsMax = driver.QuarantineStrikes + 3
	for deaths := 1; ; deaths++ {
		if err := w.wait(); err == nil {
			t.Fatal("the poison did not kill its node")
		}
		next := startWorker(c.Cluster)
		clustertest.Until(t, "the task is free", func() bool { _, owner := state(); return owner == 0 || gone(next) })
		if s, _ := state(); s == journal.Quarantined {
			w = next
			break
		}
		if deaths == deathsMax {
			t.Fatalf("still not quarantined after %d deaths", deaths)
		}
		// The back-off of repeat offenders is not what is tested here.
		c.exec(`UPDATE reprise.tasks SET visible_at = now() WHERE run_id = $1 AND owner = 0`, run.ID().String())
		w = next
	}
	survivor := w
	c.exec(`INSERT INTO gates VALUES ('gate')`)
	if _, err := beside.Result(ctx); err != nil {
		d, _ := c.client.Describe(context.Background(), beside.ID())
		t.Errorf("the run beside the poison: %v, %+v", err, d)
	}
	c.exec(`DELETE FROM effects`)
	chains := c.startChains(ctx, 3, 3)
	c.wantChains(ctx, chains, 3)
	if err := c.client.Terminate(ctx, run.ID(), "poison"); err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	clustertest.WantError[*runtime.TerminatedError](t, err)
	if gone(survivor) {
		t.Error("the survivor is gone")
	}
	if !errors.Is(c.client.Resume(ctx, run.ID()), journal.ErrClosed) {
		t.Error("a closed run can be resumed")
	}
}

func gone(w *worker) bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}
