package runtime_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
)

// mortal is a node inside this process that can die for the others: behind its own link to the database.
type mortal struct {
	*node
	link *pgtest.Link
	id   journal.NodeID
}

// mortal starts a node with a lease short enough that its end is noticed soon.
func (c *cluster) mortal(register func(n *runtime.Node)) *mortal {
	c.t.Helper()
	o := c.options()
	o.Lease, o.Drain = 1500*time.Millisecond, 50*time.Millisecond
	link := newLink(c.t, c.dsn)
	n := c.runOn(journal.New(c.store(link.DSN(), nil), nil), o, register)
	return &mortal{node: n, link: link, id: n.ID()}
}

// newClusterOn is a cluster on a server of its own.
func newClusterOn(t *testing.T, dsn string) *cluster {
	t.Helper()
	c := &cluster{t: t, dsn: dsn, log: &testLog{}}
	c.j = c.journal()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", c.log)
		}
	})
	return c
}

// die leaves the node without a way to the database, for good. Others see what they see of a killed process: its
// sessions are gone.
func (m *mortal) die() {
	m.link.Refuse(true)
	m.link.Cut()
}

// newLink is a network of its own between a node and the database.
func newLink(t testing.TB, dsn string) *pgtest.Link {
	t.Helper()
	return pgtest.Proxy(t, dsn)
}

func (c *cluster) store(dsn string, o *postgres.Options) *postgres.Store {
	c.t.Helper()
	s, err := postgres.Open(testContext(c.t), dsn, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(s.Close)
	return s
}

// meddled is a store whose commits and loads the test can watch, hold up or refuse.
type meddled struct {
	*postgres.Store
	mu     sync.Mutex
	commit func(ctx context.Context, commits []journal.Commit) error
	load   func(answer []journal.History)
}

// meddle sets what happens before each call of Commit; an error is that call's answer, and nothing is written.
func (m *meddled) meddle(commit func(ctx context.Context, commits []journal.Commit) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commit = commit
}

// Commit writes also for a caller that has gone meanwhile, as when its request was on its way already.
func (m *meddled) Commit(ctx context.Context, commits []journal.Commit) ([]journal.Outcome, error) {
	m.mu.Lock()
	commit := m.commit
	m.mu.Unlock()
	if commit != nil {
		if err := commit(ctx, commits); err != nil {
			return nil, err
		}
		ctx = context.WithoutCancel(ctx)
	}
	return m.Store.Commit(ctx, commits)
}

func (m *meddled) Load(ctx context.Context, requests []journal.LoadRequest) ([]journal.History, error) {
	answer, err := m.Store.Load(ctx, requests)
	if err == nil && m.load != nil {
		m.load(answer)
	}
	return answer, err
}

// closing tells whether a commit ends a run.
func closing(commits []journal.Commit) bool {
	return slices.ContainsFunc(commits, func(c journal.Commit) bool { return c.Terminal() != nil })
}

// connect opens a connection for the test's own statements.
func (c *cluster) connect() *pgx.Conn {
	c.t.Helper()
	conn, err := pgx.Connect(testContext(c.t), c.dsn)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// query returns one value.
func query[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(testContext(t), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// described waits until the description of a run satisfies ok.
func described(t testing.TB, client *runtime.Client, run journal.RunID, what string, ok func(d *runtime.Description) bool) *runtime.Description {
	t.Helper()
	var d *runtime.Description
	ctx := testContext(t)
	until(t, what, func() bool {
		var err error
		d, err = client.Describe(ctx, run)
		return err == nil && ok(d)
	})
	return d
}

// parked waits until a run is parked, with nobody owning it.
func parked(t testing.TB, client *runtime.Client, run journal.RunID) *runtime.Description {
	t.Helper()
	return described(t, client, run, "the run is parked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.Owner == 0 && len(d.Waiting) > 0
	})
}

// kinds returns what happened in a run, in order.
func kinds(t testing.TB, client *runtime.Client, run journal.RunID) (list []journal.Kind) {
	t.Helper()
	events, err := client.History(testContext(t), run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		list = append(list, events[i].Kind)
	}
	return list
}

func countOf[T comparable](list []T, v T) (n int) {
	for _, x := range list {
		if x == v {
			n++
		}
	}
	return n
}

// passed waits until the store's clock has passed a time.
func (c *cluster) passed(client *runtime.Client, at time.Time) {
	c.t.Helper()
	until(c.t, "the store's clock has passed "+at.String(), func() bool {
		_, err := client.List(testContext(c.t), journal.ListFilter{Limit: 1}) // stamps the estimate of the clock
		return err == nil && c.j.Now().After(at)
	})
}

// start is runtime.Start for tests: it has no error.
func mustStart[T any](t testing.TB, run *runtime.Run[T], err error) *runtime.Run[T] {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// mustResult waits for a run that has to complete.
func mustResult[T any](t testing.TB, run *runtime.Run[T]) T {
	t.Helper()
	got, err := run.Result(testContext(t))
	if err != nil {
		t.Fatalf("run %s: %v", run.ID(), err)
	}
	return got
}

// sorted returns a sorted copy.
func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
