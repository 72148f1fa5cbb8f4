package gather_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/gather"
)

// childEnv makes this binary a process with a node that executes collectors: the DSN of its
// database.
const childEnv = "REPRISE_TEST_GATHER_CHILD"

// child is a process that executes collectors until it is killed.
func child(dsn string) int {
	store, err := postgres.Open(context.Background(), dsn, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		return 1
	}
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{
		Name: childName(os.Getpid()), Lease: 1500 * time.Millisecond, HistoryHint: 40, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	handleBoth(n)
	fmt.Fprintln(os.Stderr, "node:", n.Run(context.Background()))
	return 1
}

func childName(pid int) string { return fmt.Sprintf("child/%d", pid) }

// startChild starts a child and returns when it is a member. kill kills it with signal 9.
func startChild(c *clustertest.Cluster) (kill func()) {
	c.T.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+c.DSN)
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.T.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c.T.Cleanup(kill)
	clustertest.Until(c.T, "the child has joined", func() bool {
		nodes, err := driver.Of(c.Journal).Nodes(context.Background())
		for _, n := range nodes {
			if n.Name == childName(cmd.Process.Pid) {
				return true
			}
		}
		return err != nil && c.T.Failed()
	})
	return kill
}

// TestKilled: all nodes are killed amid the batches, twice, while inputs come. Each input that was
// acknowledged is in one batch, those of a sender in order, and no batch is there twice.
func TestKilled(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, &runtime.ClientOptions{Logger: c.Options().Logger})
	mails := gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Hour})
	const n, kills = senders * each, 2
	var sending sync.WaitGroup
	more := make(chan struct{}, n) // a sender takes one for each input: nodes die while inputs come
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				<-more
				if err := gather.Put(ctx, client, mails, "", s*each+i, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	started := func() int { return len(batches(t, client, "mails", "")) }
	for i := range kills + 1 {
		first, second := startChild(c), startChild(c)
		before := started()
		for range n / (kills + 1) {
			more <- struct{}{}
		}
		if i == kills {
			break
		}
		clustertest.Until(t, "a batch has been started", func() bool { return started() > before })
		first()
		second()
	}
	close(more)
	sending.Wait()
	clustertest.Until(t, "all batches have been started", func() bool { return started() >= n/10 })
	wantWhole(t, results(t, client, "mails", ""), n, n/10)
}
