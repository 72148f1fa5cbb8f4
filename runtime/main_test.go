package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childEnv); dsn != "" {
		os.Exit(childMain(dsn))
	}
	pgtest.Main(m)
}

// patience bounds every wait of these tests; nothing is expected to take nearly as long.
const patience = 2 * time.Minute

// cluster is a database and the nodes of a test. Everything is drained at the end of the test.
type cluster struct {
	t   *testing.T
	dsn string
	j   *journal.Journal
	log *testLog
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	dsn := pgtest.New(t)
	c := &cluster{t: t, dsn: dsn, log: &testLog{}}
	c.j = c.journal()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", c.log)
		}
	})
	return c
}

// journal opens another store on the same database, as another process would.
func (c *cluster) journal() *journal.Journal { return c.journalWith(nil) }

func (c *cluster) journalWith(o *journal.Options) *journal.Journal {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	store, err := postgres.Open(ctx, c.dsn, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(store.Close)
	return journal.New(store, o)
}

// options are the defaults of tests: everything is logged for the case of failure.
func (c *cluster) options() *runtime.NodeOptions {
	return &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
}

// node is one that runs, until the end of the test or stop.
type node struct {
	*runtime.Node
	stop func()
}

// run starts a node on its own store.
func (c *cluster) run(o *runtime.NodeOptions, register func(n *runtime.Node)) *node {
	c.t.Helper()
	return c.runOn(c.journal(), o, register)
}

func (c *cluster) runOn(j *journal.Journal, o *runtime.NodeOptions, register func(n *runtime.Node)) *node {
	c.t.Helper()
	if o == nil {
		o = c.options()
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
				c.t.Errorf("node ended with %v", err)
			}
		case <-time.After(patience):
			c.t.Error("node does not end")
		}
	})
	c.t.Cleanup(stop)
	until(c.t, "the node has joined", func() bool { return n.ID() != 0 })
	return &node{Node: n, stop: stop}
}

// until polls a condition that something else brings about.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// mortalServer starts a database server that a test may kill.
func mortalServer(t *testing.T) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(testContext(t), &pgserver.Options{
		NoFsync: true, Settings: map[string]string{"synchronous_commit": "on"}, // only the server dies, not the machine
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// testLog is a log that tests can search.
type testLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func wantErr[T error](t *testing.T, err error) T {
	t.Helper()
	got, ok := errors.AsType[T](err)
	if !ok {
		t.Fatalf("got error %v (%T), want a %T", err, err, got)
	}
	return got
}
