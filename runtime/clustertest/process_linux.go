package clustertest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/runtime"
)

// Process is a process of the test binary with a node, for tests that kill nodes for good.
type Process struct {
	Env     string // the variable that makes the binary such a process: the DSN of its database
	Options runtime.NodeOptions
	Handle  func(*runtime.Node)
}

// Main is called ahead of all tests. In such a process it executes what the node handles, until it
// is killed.
func (p Process) Main() {
	dsn := os.Getenv(p.Env)
	if dsn == "" {
		return
	}
	store, err := postgres.Open(context.Background(), dsn, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		os.Exit(1)
	}
	p.Options.Name, p.Options.Logger = processName(os.Getpid()), slog.New(slog.NewTextHandler(os.Stderr, nil))
	n := runtime.NewNode(journal.New(store, nil), &p.Options)
	p.Handle(n)
	fmt.Fprintln(os.Stderr, "node:", n.Run(context.Background()))
	os.Exit(1)
}

func processName(pid int) string { return fmt.Sprintf("child/%d", pid) }

// Start starts the process on the cluster's database, and returns when its node is a member. kill
// kills it with signal 9.
func (p Process) Start(c *Cluster) (kill func()) {
	c.T.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), p.Env+"="+c.DSN)
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
	Until(c.T, "the process has joined", func() bool {
		nodes, err := driver.Of(c.Journal).Nodes(context.Background())
		for _, n := range nodes {
			if n.Name == processName(cmd.Process.Pid) {
				return true
			}
		}
		return err != nil && c.T.Failed()
	})
	return kill
}
