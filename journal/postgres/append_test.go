package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// appendWorld is a node whose runs have committed once, so that they may append.
type appendWorld struct {
	t    *testing.T
	dsn  string
	j    *driver.Journal
	m    driver.Membership
	conn *pgx.Conn
}

func newAppendWorld(t *testing.T) *appendWorld {
	t.Helper()
	t.Parallel()
	w := &appendWorld{t: t, dsn: pgtest.New(t)}
	w.j = driver.New(open(t, w.dsn, nil), nil)
	w.m, w.conn = w.join(w.j), connect(t, w.dsn)
	return w
}

// join makes a node. It leaves when the test ends, or it is gone already.
func (w *appendWorld) join(j *driver.Journal) driver.Membership {
	w.t.Helper()
	m, err := j.Join(w.t.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = m.Leave(context.Background()) })
	return m
}

// other is a second process: a store and a node of its own.
func (w *appendWorld) other() (*driver.Journal, driver.Membership) {
	w.t.Helper()
	j := driver.New(open(w.t, w.dsn, nil), nil)
	return j, w.join(j)
}

// first is the first commit of a run that the node owns.
func (w *appendWorld) first() driver.Commit {
	w.t.Helper()
	c := commitOf(w.j, born(w.t, w.j, w.m.ID()), keep, began("a", "b", "c"))
	commit(w.t, w.j, c)
	return c
}

// errs commits a batch and returns the members' errors.
func (w *appendWorld) errs(j *driver.Journal, batch ...driver.Commit) []error {
	w.t.Helper()
	out, err := j.Commit(w.t.Context(), batch)
	if err != nil {
		w.t.Fatal(err)
	}
	list := make([]error, len(out))
	for i := range out {
		list[i] = out[i].Err
	}
	return list
}

// want compares the errors of a batch's members with what is wanted, nil for a member that is
// written.
func (w *appendWorld) want(what string, got []error, want ...error) {
	w.t.Helper()
	if !slices.EqualFunc(got, want, func(got, want error) bool { return errors.Is(got, want) }) {
		w.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// seqs are the numbers of events that runs have.
func (w *appendWorld) seqs(list ...driver.Commit) (n []int) {
	w.t.Helper()
	for i := range list {
		n = append(n, len(events(w.t, w.j, list[i].Run)))
	}
	return n
}

func (w *appendWorld) compares(want bool) {
	w.t.Helper()
	r, err := w.m.Renew(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Compare != want {
		w.t.Errorf("Renew says compare %v, want %v", r.Compare, want)
	}
}

func (w *appendWorld) owned(m driver.Membership) []driver.Holding {
	w.t.Helper()
	list, err := m.Owned(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// expire lets a node's lease run out, and reap declares it dead from another process.
func (w *appendWorld) expire(m driver.Membership) {
	w.t.Helper()
	mustExec(w.t, w.conn, "UPDATE reprise.nodes SET expires_at = now() - interval '1 s' WHERE id = $1", int32(m.ID()))
}

// taskOf is a task's row but for its number of messages, as text.
func (w *appendWorld) taskOf(run journal.RunID) string {
	w.t.Helper()
	return query[string](w.t, w.conn, "SELECT format('%s %s', t.xmin, t) FROM reprise.tasks t WHERE run_id = $1", run.String())
}

// An append leaves the row of the task as it is, whatever else is in the batch.
func TestAppendsTouchNoTask(t *testing.T) {
	w := newAppendWorld(t)
	a, b, c, d := w.first(), w.first(), w.first(), w.first()
	before := []string{w.taskOf(a.Run), w.taskOf(b.Run)}
	a2, b2 := appending(a, stepDone(1, "a")), appending(b, stepDone(1, "a"), stepDone(2, "b"))
	w.want("a mixed batch", w.errs(w.j, a2, after(c, park, stepDone(1, "a")), b2, after(d, closing, completed())), nil, nil, nil, nil)
	w.want("a single one", w.errs(w.j, appending(a2, stepDone(2, "b"))), nil)
	if after := []string{w.taskOf(a.Run), w.taskOf(b.Run)}; !slices.Equal(before, after) {
		t.Errorf("tasks are\n%s\nand were\n%s", after, before)
	}
	if n := w.seqs(a, b, c, d); !slices.Equal(n, []int{3, 3, 2, 2}) {
		t.Errorf("histories have %v events", n)
	}
}

// Of a batch with a member that was built on another history, the others are written.
func TestAppendsOfABatchAreJudgedOneByOne(t *testing.T) {
	w := newAppendWorld(t)
	a, b, c := w.first(), w.first(), w.first()
	stale := appending(b, stepDone(1, "a"))
	w.want("the first", w.errs(w.j, stale), nil)
	other := appending(b, stepDone(2, "b"))
	late := appending(appending(b, stepDone(2, "b")), stepDone(1, "a")) // one that follows what was never written
	w.want("a batch", w.errs(w.j, appending(a, stepDone(1, "a")), other, appending(c, stepDone(1, "a"))), nil, journal.ErrFenced, nil)
	w.want("a gap", w.errs(w.j, late), journal.ErrFenced)
	w.want("an own write (J4)", w.errs(w.j, stale), nil)
	w.want("an own write, and the run has gone on", w.errs(w.j, appending(stale, stepDone(2, "b")), a), nil, nil)
	w.want("the one before", w.errs(w.j, stale), nil)
	if n := w.seqs(a, b, c); !slices.Equal(n, []int{2, 3, 2}) {
		t.Errorf("histories have %v events", n)
	}
}

// wantAppends is want for a commit of one event and one of two, which different statements write. Both
// are refused or none is, since the second begins with the first.
func (w *appendWorld) wantAppends(what string, j *driver.Journal, after driver.Commit, want error) {
	w.t.Helper()
	one := appending(after, stepDone(1, "a"))
	two := appending(after, stepDone(1, "a"), stepDone(2, "b"))
	if want == nil {
		two = appending(one, stepDone(2, "b"), stepDone(3, "c"))
	}
	w.want(what+", of one event", w.errs(j, one), want)
	w.want(what+", of two", w.errs(j, two), want)
}

// A request that was lost arrives a second time, after the node was declared dead and another one
// has taken the run, or is about to.
func TestLateDuplicateOfAnAppendAfterATakeover(t *testing.T) {
	w := newAppendWorld(t)
	a, b := w.first(), w.first()
	late := []driver.Commit{appending(a, stepDone(1, "a")), appending(b, stepDone(1, "a"))}
	w.want("the first copy of one", w.errs(w.j, late[0]), nil)
	j, m := w.other()
	w.expire(w.m)
	if r, err := m.Reap(t.Context(), nil); err != nil || len(r.Nodes) != 1 || r.Tasks != 2 {
		t.Fatal(r, err)
	}
	w.want("before the next owner writes", w.errs(w.j, late...), nil, journal.ErrNodeLost)
	for _, c := range claim(t, j, m.ID(), 2) {
		if c.Task.Link != 0 {
			t.Errorf("a reaped task has link %d", c.Task.Link)
		}
		took := driver.Commit{Run: c.Run.ID, Node: m.ID(), Fence: c.Task.Fence, Turn: c.Task.Turn, Generation: 1, Next: keep}
		newest := events(t, j, c.Run.ID)
		took.Head = journal.Head{Seq: newest[len(newest)-1].Seq, Link: newest[len(newest)-1].Link}
		commit(t, j, follow(took, j.Now(), []journal.Event{stepDone(2, "b")}))
	}
	w.want("behind the next owner", w.errs(w.j, late...), nil, journal.ErrNodeLost)
	if _, err := w.m.Renew(t.Context()); !errors.Is(err, journal.ErrNodeLost) {
		t.Errorf("Renew: %v", err)
	}
	if n := w.seqs(a, b); !slices.Equal(n, []int{3, 2}) {
		t.Errorf("histories have %v events", n)
	}
}

// An append that meets its own first try, which is not over yet, waits for it and recognises it (J4).
func TestAppendMeetsItsOwnFirstTry(t *testing.T) {
	w := newAppendWorld(t)
	a := w.first()
	c := appending(a, stepDone(1, "a"))
	first := connect(t, w.dsn)
	mustExec(t, first, "BEGIN")
	mustExec(t, first, "INSERT INTO reprise.events (run_id, at, link, generation, seq, kind, cmd, name, attempt, payload) VALUES ($1, $2, $3, 1, 2, 2, 1, 'a', 1, '1')",
		a.Run.String(), c.Events[0].Time, int64(c.Events[0].Link))
	done := make(chan []error, 1)
	go func() {
		out, err := w.j.Commit(context.Background(), []driver.Commit{c})
		if err == nil {
			err = out[0].Err
		}
		done <- []error{err}
	}()
	eventually(t, "the second try waits", func() bool {
		return query[int](t, w.conn, "SELECT count(*)::int FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted") > 0
	})
	mustExec(t, first, "COMMIT")
	w.want("the second try", <-done, nil)
	if n := w.seqs(a); !slices.Equal(n, []int{2}) {
		t.Errorf("the history has %v events", n)
	}
}

// A store whose answer to appends is lost, or the request, is asked again.
func TestJ4_LostAckOfAnAppend(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	p.each("reprise.members m WHERE m.node", func(how string, broken func(call func() error)) {
		var batch []driver.Commit
		for range 2 {
			first := commitOf(p.j, owned(t, p.j, p.node), keep, began("a"))
			commit(t, p.direct, first)
			batch = append(batch, appending(first, stepDone(1, "a")))
		}
		broken(func() error {
			out, err := p.j.Commit(t.Context(), batch)
			if err == nil {
				err = errors.Join(out[0].Err, out[1].Err)
			}
			return err
		})
		for _, c := range batch {
			p.wantEvents(how, c.Run, 2)
		}
		p.drain()
	})
}
