package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// Shorthands of the tests in this folder. They fail the test.

var flowRoute = journal.Route{Queue: journal.DefaultQueue, Workflow: "flow", Version: 1}

// world is a store and a journal on a file, and a connection of the user's own.
type world struct {
	t    *testing.T
	path string
	s    *sqlite.Store
	j    *driver.Journal
	node journal.NodeID
	db   *sql.DB
}

func newWorld(t *testing.T, o *sqlite.Options) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "reprise.db")}
	w.s = open(t, w.path, o)
	w.j = driver.New(w.s, nil)
	w.node = w.join()
	w.db = database(t, w.path)
	w.exec(`CREATE TABLE effects (what TEXT)`)
	return w
}

// database opens a connection of the user's own.
func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func (w *world) exec(text string, args ...any) {
	w.t.Helper()
	if _, err := w.db.ExecContext(w.t.Context(), text, args...); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
}

func (w *world) count(text string, args ...any) (n int) {
	w.t.Helper()
	if err := w.db.QueryRowContext(w.t.Context(), text, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return n
}

func (w *world) effects() int { w.t.Helper(); return w.count(`SELECT count(*) FROM effects`) }

func (w *world) join() journal.NodeID {
	w.t.Helper()
	m, err := w.j.Join(w.t.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: time.Minute})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = m.Leave(context.Background()) }) // the store may be closed by then
	return m.ID()
}

func (w *world) start(list ...journal.Start) []journal.Started {
	w.t.Helper()
	for i := range list {
		list[i].Workflow = "flow"
	}
	out, err := w.j.Start(w.t.Context(), nil, list)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range out {
		if o.Err != nil {
			w.t.Fatal(o.Err)
		}
	}
	return out
}

// owned starts a run that the node owns, and returns its first commit.
func (w *world) owned(next driver.Next, events ...journal.Event) driver.Commit {
	w.t.Helper()
	out := w.start(journal.Start{Owner: w.node})[0]
	return sqlite.First(out.Run, w.node, journal.Payload{}, next, events...)
}

func (w *world) commit(c driver.Commit) {
	w.t.Helper()
	if out, err := w.j.Commit(w.t.Context(), []driver.Commit{c}); err != nil || out[0].Err != nil {
		w.t.Fatal(err, out)
	}
}

func (w *world) history(run journal.RunID) driver.History {
	w.t.Helper()
	list, err := w.j.Load(w.t.Context(), []driver.LoadRequest{{Run: run}})
	if err != nil || list[0].Err != nil {
		w.t.Fatal(err, list)
	}
	return list[0]
}

func (w *world) runs() int {
	w.t.Helper()
	page, err := w.j.List(w.t.Context(), journal.ListFilter{Limit: journal.ListMax})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(page.Runs)
}

var (
	keep    = driver.Next{Kind: driver.NextKeep}
	closing = driver.Next{Kind: driver.NextClose}

	began     = journal.Event{Kind: journal.RunStarted, Issued: []journal.Issued{{Kind: journal.CommandStep, Name: "a"}}}
	stepDone  = journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "a", Attempt: 1, Payload: journal.Payload{Data: []byte("1")}}
	completed = journal.Event{Kind: journal.RunCompleted, Payload: journal.Payload{Data: []byte(`"done"`)}}
)
