package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// tables are what a restored copy of the journal brings back.
var tables = strings.Fields("runs tasks events inbox nodes members")

func (w *appendWorld) keep() {
	for _, table := range tables {
		mustExec(w.t, w.conn, "CREATE TABLE kept_"+table+" AS SELECT * FROM reprise."+table)
	}
}

func (w *appendWorld) goBack() {
	for _, table := range tables {
		over := ""
		if table == "nodes" {
			over = "OVERRIDING SYSTEM VALUE "
		}
		mustExec(w.t, w.conn, "TRUNCATE reprise."+table)
		mustExec(w.t, w.conn, "INSERT INTO reprise."+table+" "+over+"SELECT * FROM kept_"+table)
	}
}

// A store that went back to an older state refuses what follows a lost one, notices that it went
// back, and says what the node owns now.
func TestStoreGoesBack(t *testing.T) {
	w := newAppendWorld(t)
	w.compares(false)
	a, b := w.first(), w.first()
	w.keep()
	a2, b2 := appending(a, stepDone(1, "a")), after(b, park, stepDone(1, "a"))
	w.want("what will be lost", w.errs(w.j, a2, b2), nil, nil)
	c := w.first()
	w.compares(false)
	w.goBack()
	w.want("commits that follow what was lost", w.errs(w.j, appending(a2, stepDone(2, "b")), appending(c, stepDone(1, "a"))),
		journal.ErrFenced, journal.ErrFenced)
	w.wantAppends("an append that follows what was lost", w.j, a2, journal.ErrFenced)
	// One that compares owner, fence and turn alone would be written.
	end := after(a2, closing, completed())
	w.want("a close that follows a lost append", w.errs(w.j, end), journal.ErrFenced)
	w.want("a batch with one", w.errs(w.j, end, after(c, park, stepDone(1, "a"))), journal.ErrFenced, journal.ErrFenced)
	w.compares(true)
	want := []driver.Holding{}
	for _, first := range []driver.Commit{a, b} {
		want = append(want, driver.Holding{Run: first.Run, Generation: 1, Fence: first.Fence, Head: first.NewHead(), Confirmed: true})
	}
	got := w.owned(w.m)
	slices.SortFunc(got, func(x, y driver.Holding) int { return strings.Compare(x.Run.String(), y.Run.String()) })
	if !slices.Equal(got, want) {
		t.Errorf("the node owns %v, want %v", got, want)
	}
	w.compares(false)
	w.want("what follows the stored state", w.errs(w.j, appending(a, stepDone(2, "b"))), nil)
	if err := w.m.Release(t.Context(), want[1:]); err != nil {
		t.Fatal(err)
	}
	if again := claimOne(t, w.j, w.m.ID()); again.Run.ID != b.Run || again.Task.Fence.Count() != 2 || again.Task.Link != 0 || again.Task.Strikes != 0 {
		t.Errorf("claimed again: %+v", again.Task)
	}
}

// Two processes with one number, as a restored sequence gives out: the newest incarnation is the
// node, and the other one is lost.
func TestTwoIncarnationsOfOneID(t *testing.T) {
	w := newAppendWorld(t)
	a, unproven := w.first(), born(t, w.j, w.m.ID()).Run.ID
	free := start(t, w.j, journal.Start{}).Run
	mustExec(t, w.conn, "SELECT setval(pg_get_serial_sequence('reprise.nodes', 'id'), $1, false)", int64(w.m.ID()))
	j, m := w.other()
	if m.ID() != w.m.ID() {
		t.Fatalf("the second process has number %d, want %d", m.ID(), w.m.ID())
	}
	if _, err := w.m.Renew(t.Context()); !errors.Is(err, journal.ErrNodeLost) {
		t.Errorf("Renew of the first: %v", err)
	}
	if _, err := w.m.Owned(t.Context()); !errors.Is(err, journal.ErrNodeLost) {
		t.Errorf("Owned of the first: %v", err)
	}
	if n := len(claim(t, w.j, w.m.ID(), 5)); n != 0 {
		t.Errorf("the first claimed %d runs", n)
	}
	if s := start(t, w.j, journal.Start{Owner: w.m.ID()}); s.Owned {
		t.Error("the first owns a run from birth")
	}
	c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: w.m.ID(), Reconcile: true})
	if err != nil || len(c.Tasks) != 0 {
		t.Errorf("the first is told of %v, %v", c.Tasks, err)
	}
	w.wantAppends("an append of the first", w.j, a, journal.ErrNodeLost)
	if err := w.m.Release(t.Context(), []driver.Holding{{Run: a.Run, Fence: a.Fence}}); err != nil {
		t.Fatal(err)
	}
	if err := w.m.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := m.Renew(t.Context())
	if err != nil || !r.Compare {
		t.Errorf("the second is told to compare: %v, %v", r.Compare, err)
	}
	if list := w.owned(m); len(list) != 2 {
		t.Errorf("the second owns %v, want %s and %s", list, a.Run, unproven)
	}
	if got := claim(t, j, m.ID(), 5); len(got) != 2 || got[0].Run.ID != free && got[1].Run.ID != free {
		t.Errorf("the second claimed %v", got)
	}
}

// A server that was started again is another epoch, whatever the rows say.
func TestAServerThatStartedAgainIsAnotherEpoch(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	w := &appendWorld{t: t, dsn: server.DSN("postgres")}
	w.j = driver.New(open(t, w.dsn, nil), nil)
	w.m = w.join(w.j)
	w.compares(false)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server answers", func() bool {
		r, err := w.m.Renew(t.Context())
		if err == nil && !r.Compare {
			t.Error("the node is not told to compare")
		}
		return err == nil
	})
	w.owned(w.m)
	w.compares(false)
}
