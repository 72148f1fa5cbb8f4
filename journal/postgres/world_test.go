package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// Shorthands of the tests in this folder. They fail the test.

var flowRoute = journal.Route{Queue: journal.DefaultQueue, Workflow: "flow", Version: 1}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen: %s", what)
		}
		<-tick.C
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// query returns one value.
func query[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func mustExec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// join makes a node that serves flow and leaves when the test ends.
func join(t *testing.T, j *driver.Journal) journal.NodeID {
	t.Helper()
	m, err := j.Join(t.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Leave(context.Background()) }) // the server may be gone by then
	return m.ID()
}

func start(t *testing.T, j *driver.Journal, s journal.Start) journal.Started {
	t.Helper()
	if s.Workflow == "" {
		s.Workflow = "flow"
	}
	out, err := j.Start(t.Context(), nil, []journal.Start{s})
	if err != nil || out[0].Err != nil {
		t.Fatal(err, out)
	}
	return out[0]
}

func send(t *testing.T, j *driver.Journal, m journal.Message) journal.Sent {
	t.Helper()
	out, err := j.Send(t.Context(), nil, []journal.Message{m})
	if err != nil || out[0].Err != nil {
		t.Fatal(err, out)
	}
	return out[0]
}

func claim(t *testing.T, j *driver.Journal, node journal.NodeID, max int) []driver.Claimed {
	t.Helper()
	c, err := j.Claim(t.Context(), driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: max})
	if err != nil {
		t.Fatal(err)
	}
	return c.Tasks
}

func claimOne(t *testing.T, j *driver.Journal, node journal.NodeID) driver.Claimed {
	t.Helper()
	tasks := claim(t, j, node, 2)
	if len(tasks) != 1 {
		t.Fatalf("claimed %d tasks, want 1", len(tasks))
	}
	return tasks[0]
}

// owned starts a run and claims it.
func owned(t *testing.T, j *driver.Journal, node journal.NodeID) driver.Claimed {
	t.Helper()
	start(t, j, journal.Start{})
	return claimOne(t, j, node)
}

// born starts a run that the node owns from birth.
func born(t *testing.T, j *driver.Journal, node journal.NodeID) driver.Claimed {
	t.Helper()
	run := start(t, j, journal.Start{Owner: node}).Run
	return driver.Claimed{Run: journal.Run{ID: run, Generation: 1},
		Task: journal.Task{Run: run, Generation: 1, Owner: node, Fence: journal.FenceAtBirth}}
}

// commitOf returns the first commit of a claimed run without history.
func commitOf(j *driver.Journal, c driver.Claimed, next driver.Next, events ...journal.Event) driver.Commit {
	out := driver.Commit{Run: c.Run.ID, Node: c.Task.Owner, Fence: c.Task.Fence, Turn: c.Task.Turn,
		Generation: c.Task.Generation, Head: journal.Head{Link: journal.OriginOf(c.Run.ID, c.Task.Generation, 0, c.Run.Input)}, Next: next}
	return follow(out, j.Now(), events)
}

// after returns the commit that follows c, with its events numbered on.
func after(c driver.Commit, next driver.Next, events ...journal.Event) driver.Commit {
	last := c.Events[len(c.Events)-1]
	if !c.AppendOnly {
		c.Turn++
	}
	c.Head, c.Next, c.Events, c.Tx, c.Attempts, c.Consumed, c.AppendOnly = c.NewHead(), next, nil, nil, nil, nil, false
	return follow(c, last.Time, events)
}

// appending is after for a commit that does nothing but add events.
func appending(c driver.Commit, events ...journal.Event) driver.Commit {
	c = after(c, keep, events...)
	c.AppendOnly = true
	return c
}

// follow numbers, dates and links the events of a commit.
func follow(c driver.Commit, at time.Time, events []journal.Event) driver.Commit {
	for i, ev := range events {
		ev.Seq, ev.Time = c.Head.Seq+journal.Seq(i+1), at.UTC().Truncate(time.Microsecond)
		c.InboxSeen = max(c.InboxSeen, ev.Inbox)
		c.Events = append(c.Events, ev)
	}
	chain(&c)
	return c
}

// chain links the events of a commit, which were changed.
func chain(c *driver.Commit) {
	link := c.Head.Link
	for i := range c.Events {
		link = c.Events[i].LinkAfter(link)
		c.Events[i].Link = link
	}
}

func commit(t *testing.T, j *driver.Journal, c driver.Commit) driver.Outcome {
	t.Helper()
	out, err := j.Commit(t.Context(), []driver.Commit{c})
	if err != nil || out[0].Err != nil {
		t.Fatal(err, out)
	}
	return out[0]
}

func events(t *testing.T, j *driver.Journal, run journal.RunID) []journal.Event {
	t.Helper()
	list, err := j.Load(t.Context(), []driver.LoadRequest{{Run: run}})
	if err != nil || list[0].Err != nil {
		t.Fatal(err, list)
	}
	return list[0].Events
}

func steps(names ...string) (list []journal.Issued) {
	for _, name := range names {
		list = append(list, journal.Issued{Kind: journal.CommandStep, Name: name})
	}
	return list
}

var (
	keep    = driver.Next{Kind: driver.NextKeep}
	park    = driver.Next{Kind: driver.NextPark}
	closing = driver.Next{Kind: driver.NextClose}
)

func began(names ...string) journal.Event {
	return journal.Event{Kind: journal.RunStarted, Issued: steps(names...)}
}

func stepDone(cmd journal.Cmd, name string) journal.Event {
	return journal.Event{Kind: journal.StepCompleted, Cmd: cmd, Name: name, Attempt: 1, Payload: journal.Payload{Data: []byte("1")}}
}

func completed() journal.Event {
	return journal.Event{Kind: journal.RunCompleted, Payload: journal.Payload{Data: []byte(`"done"`)}}
}

// eventuallyQuietly is eventually on a goroutine that may not fail the test.
func eventuallyQuietly(holds func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(60 * time.Second); !holds() && time.Now().Before(deadline); {
		<-tick.C
	}
}

// privateServer starts a server that no other test uses, and stops it when the test ends.
func privateServer(t *testing.T) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(t.Context(), nil)
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

// playwright holds transactions of several programs against each other: who waits for whom.
type playwright struct {
	t    *testing.T
	dsn  string
	look *pgx.Conn
}

func (p *playwright) begin() pgx.Tx {
	p.t.Helper()
	tx, err := connect(p.t, p.dsn).Begin(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return tx
}

func (p *playwright) end(tx pgx.Tx) {
	p.t.Helper()
	if err := tx.Commit(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// waits returns when one session waits for a lock that this very transaction holds: a wait for
// another one, which may just be over, is none.
func (p *playwright) waits(what string, whom pgx.Tx) {
	p.t.Helper()
	eventually(p.t, what, func() bool {
		return query[int](p.t, p.look, "SELECT count(*)::int FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))",
			int(whom.Conn().PgConn().PID())) == 1
	})
}
