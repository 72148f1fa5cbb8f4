// Package clustertest runs clusters for tests: nodes inside the test's process, each with its own
// connections to a private Postgres, as separate processes would have. [New] makes a cluster on a
// database of its own; whatever a test starts on it is drained when the test ends.
//
// The tests that need processes which die for good start the test binary again: see [Process] and
// runtime/acceptance.
package clustertest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
)

// Cluster is a database and the nodes of one test.
type Cluster struct {
	T       *testing.T
	DSN     string
	Journal *journal.Journal // of no node: for clients and for what the test looks up itself
	Log     *Log             // of all nodes; shown when the test fails
}

// New makes a cluster on a new database, and lets the test run beside others.
func New(t *testing.T) *Cluster {
	t.Helper()
	t.Parallel()
	return On(t, pgtest.New(t))
}

// On makes a cluster on a database that exists, such as that of a [Server].
func On(t *testing.T, dsn string) *Cluster {
	t.Helper()
	c := &Cluster{T: t, DSN: dsn, Log: &Log{}}
	c.Journal = c.Open(nil)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", c.Log)
		}
	})
	return c
}

// Open opens another journal on the same database, as another process would. o may be nil.
func (c *Cluster) Open(o *journal.Options) *journal.Journal {
	c.T.Helper()
	if o == nil {
		o = &journal.Options{Logger: slog.New(slog.NewTextHandler(c.Log, nil))}
	}
	return journal.New(c.Store(c.DSN, nil), o)
}

// Store opens a store that is closed when the test ends. dsn is another way to the same database,
// such as a link's.
func (c *Cluster) Store(dsn string, o *postgres.Options) *postgres.Store {
	c.T.Helper()
	s, err := postgres.Open(Context(c.T), dsn, o)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(s.Close)
	return s
}

// Connect opens a connection for the test's own statements.
func (c *Cluster) Connect() *pgx.Conn {
	c.T.Helper()
	conn, err := pgx.Connect(Context(c.T), c.DSN)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Options are what nodes run with by default: everything is logged.
func (c *Cluster) Options() *runtime.NodeOptions {
	return &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
}

// Node is a node that runs until the end of the test, or until Stop has drained it.
type Node struct {
	*runtime.Node
	Stop func()
}

// Run starts a node with a store of its own and returns when it has joined. o may be nil.
func (c *Cluster) Run(o *runtime.NodeOptions, register func(n *runtime.Node)) *Node {
	c.T.Helper()
	return c.RunOn(c.Open(nil), o, register)
}

// RunOn is Run on a journal that the test opened.
func (c *Cluster) RunOn(j *journal.Journal, o *runtime.NodeOptions, register func(n *runtime.Node)) *Node {
	c.T.Helper()
	if o == nil {
		o = c.Options()
	}
	n := runtime.NewNode(j, o)
	register(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				c.T.Errorf("node ended with %v", err)
			}
		case <-time.After(Patience):
			c.T.Error("node does not end")
		}
	})
	c.T.Cleanup(stop)
	Until(c.T, "the node has joined", func() bool { return n.ID() != 0 })
	return &Node{Node: n, Stop: stop}
}

// MortalNode is a node inside this process that can die for the others: it has its own link to the
// database.
type MortalNode struct {
	*Node
	Link *pgtest.Link
	ID   journal.NodeID
}

// RunMortal starts a node with a lease short enough that its death is noticed soon.
func (c *Cluster) RunMortal(register func(n *runtime.Node)) *MortalNode {
	c.T.Helper()
	o := c.Options()
	o.Lease, o.Drain = 1500*time.Millisecond, 50*time.Millisecond
	link := pgtest.Proxy(c.T, c.DSN)
	n := c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), o, register)
	return &MortalNode{Node: n, Link: link, ID: n.ID()}
}

// Die cuts the node off the database for good. Others see what they see of a killed process: its
// sessions are gone.
func (m *MortalNode) Die() {
	m.Link.Refuse(true)
	m.Link.Cut()
}
