package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// Tests of dying nodes run workers as child processes: this test binary again, with workerEnv set.
const (
	workerEnv = "REPRISE_TEST_CHILD" // DSN of the database
	leaseEnv  = "REPRISE_TEST_LEASE"
)

// Workflows of the workers. Effects go to the table effects, written inside the steps' transactions
// (StepTx) or by a connection of their own.
const (
	chain  workflow.Name[int, int]       = "chain"  // n transactional steps, each with one effect
	hold   workflow.Name[string, string] = "hold"   // one step that ends when the table gates has its name
	write  workflow.Name[string, string] = "write"  // writes in a transaction; its first attempt waits for writeLock then
	poison workflow.Name[string, string] = "poison" // kills its process
)

const workerSchema = `
	CREATE TABLE effects (run uuid NOT NULL, step text NOT NULL, attempt int NOT NULL, pid int NOT NULL, node text);
	CREATE TABLE gates (name text NOT NULL)`

// workerMain is a worker process. It drains on SIGTERM.
func workerMain(dsn string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	store, err := postgres.Open(ctx, dsn, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		return 1
	}
	defer store.Close()
	lease, _ := time.ParseDuration(os.Getenv(leaseEnv)) // absent: the default
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{
		Name: fmt.Sprintf("child/%d", os.Getpid()), Lease: lease, Drain: 5 * time.Second,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	runtime.Handle(node, chain, chainOfEffects, nil)
	runtime.Handle(node, hold, func(ctx workflow.Context, gate string) (string, error) {
		return workflow.Step(ctx, "hold", func(ctx context.Context) (string, error) { return holding(ctx, dsn, gate) }, nil)
	}, nil)
	runtime.Handle(node, write, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.StepTx(ctx, "write", func(ctx context.Context, tx pgx.Tx) (string, error) { return writing(ctx, tx, dsn) }, nil)
	}, nil)
	runtime.Handle(node, poison, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, "die", func(context.Context) (string, error) { os.Exit(66); return "", nil }, nil)
	}, nil)
	handleLimited(node, dsn)
	handleHeld(node, dsn)
	handleFamilies(node, nil)
	if err := node.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		return 1
	}
	return 0
}

func chainOfEffects(ctx workflow.Context, n int) (int, error) {
	for i := range n {
		_, err := workflow.StepTx(ctx, fmt.Sprintf("effect %d", i), func(ctx context.Context, tx pgx.Tx) (int, error) {
			info, _ := workflow.StepInfo(ctx)
			_, err := tx.Exec(ctx, `INSERT INTO effects VALUES ($1, $2, $3, $4, 'tx')`, info.Run.String(), info.Step, info.Attempt, os.Getpid())
			return i, err
		}, nil)
		if err != nil {
			return 0, err
		}
		if i%3 == 0 {
			if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// holding records that it began and returns when the gate is open.
func holding(ctx context.Context, dsn, gate string) (string, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	info, _ := workflow.StepInfo(ctx)
	if _, err := conn.Exec(ctx, `INSERT INTO effects VALUES ($1, $2, $3, $4, 'began')`, info.Run.String(), info.Step, info.Attempt, os.Getpid()); err != nil {
		return "", err
	}
	for {
		var open bool
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM gates WHERE name = $1)`, gate).Scan(&open); err != nil {
			return "", err
		}
		if open {
			return fmt.Sprint(os.Getpid()), nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// writeLock is an advisory lock. Who waits for it has the answer as soon as it is free, also if its
// process is stopped: no round trip is between the end of the stop and what comes then.
const writeLock = 4711

// writing writes in a transaction and records that it began. The first attempt of a run then waits
// for writeLock.
func writing(ctx context.Context, tx pgx.Tx, dsn string) (string, error) {
	info, _ := workflow.StepInfo(ctx)
	const effect = `INSERT INTO effects VALUES ($1, $2, $3, $4, $5)`
	if _, err := tx.Exec(ctx, effect, info.Run.String(), info.Step, info.Attempt, os.Getpid(), "tx"); err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var before int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM effects WHERE run = $1`, info.Run.String()).Scan(&before); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, effect, info.Run.String(), info.Step, info.Attempt, os.Getpid(), "began"); err != nil {
		return "", err
	}
	if before == 0 {
		_, err = conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_lock($1)`, writeLock) // whatever its node thinks by then
	}
	return fmt.Sprint(os.Getpid()), err
}

// worker is a child process of a test.
type worker struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *clustertest.Log
	done chan struct{} // closed when the process is gone
	err  error         // how it ended, after done
}

// startWorker starts a child and waits until it is a member.
func startWorker(c *clustertest.Cluster, env ...string) *worker {
	c.T.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.T.Fatal(err)
	}
	w := &worker{t: c.T, cmd: exec.Command(exe), log: c.Log, done: make(chan struct{})}
	w.cmd.Env = append(append(os.Environ(), workerEnv+"="+c.DSN), env...)
	w.cmd.Stdout, w.cmd.Stderr = c.Log, c.Log
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := w.cmd.Start(); err != nil {
		c.T.Fatal(err)
	}
	go func() { w.err = w.cmd.Wait(); close(w.done) }()
	c.T.Cleanup(func() { w.kill() })
	name := fmt.Sprintf("child/%d", w.cmd.Process.Pid)
	clustertest.Until(c.T, "the worker has joined", func() bool {
		nodes, err := driver.Of(c.Journal).Nodes(context.Background())
		for _, n := range nodes {
			if n.Name == name {
				return true
			}
		}
		select {
		case <-w.done:
			c.T.Fatalf("the worker ended at once: %v", w.err)
		default:
		}
		return err != nil
	})
	return w
}

func (w *worker) signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Fatal(err)
	}
}

// kill ends the process without a warning.
func (w *worker) kill() {
	_ = w.cmd.Process.Kill() // it may be gone already
	_ = w.cmd.Process.Signal(syscall.SIGCONT)
	<-w.done
}

// wait returns how the process ended.
func (w *worker) wait() error {
	w.t.Helper()
	select {
	case <-w.done:
		return w.err
	case <-time.After(clustertest.Patience):
		w.t.Fatal("the worker does not end")
		return nil
	}
}

// chaos is a cluster whose nodes are child processes only.
type chaos struct {
	*clustertest.Cluster
	conn   *pgx.Conn
	client *runtime.Client
}

func newChaos(t *testing.T) *chaos {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(ctx, workerSchema); err != nil {
		t.Fatal(err)
	}
	return &chaos{Cluster: c, conn: conn, client: runtime.NewClient(c.Journal, nil)}
}

func (c *chaos) exec(sql string, args ...any) {
	c.T.Helper()
	if _, err := c.conn.Exec(context.Background(), sql, args...); err != nil {
		c.T.Fatal(err)
	}
}

func (c *chaos) number(sql string, args ...any) int {
	c.T.Helper()
	var n int
	if err := c.conn.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		c.T.Fatal(err)
	}
	return n
}

// began waits until the step of a held run has begun so many times, and returns the process it runs
// in.
func (c *chaos) began(run journal.RunID, times int) (pid int) {
	c.T.Helper()
	clustertest.Until(c.T, fmt.Sprintf("the step has begun %d times", times), func() bool {
		return c.number(`SELECT count(*) FROM effects WHERE run = $1`, run.String()) >= times
	})
	return c.number(`SELECT pid FROM effects WHERE run = $1 ORDER BY ctid DESC LIMIT 1`, run.String())
}
