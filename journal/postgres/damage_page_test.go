package postgres_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
)

// many starts runs of a workflow, whose rows fill some pages.
func (w *damageWorld) many(workflow string, n int) (runs []journal.RunID) {
	w.t.Helper()
	starts := make([]journal.Start, n)
	for i := range starts {
		starts[i] = journal.Start{Workflow: workflow, Input: journal.Payload{Data: big().Data[:300]}}
		starts[i].Input.Data[299] = '"'
	}
	out, err := w.j.Start(w.t.Context(), nil, starts)
	for i := range out {
		if runs = append(runs, out[i].Run); out[i].Err != nil {
			w.t.Fatal(out[i].Err)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return runs
}

// largeBytes is the size of inputs of which a page of a listing has room for two.
const largeBytes = driver.ListBytesMax * 3 / 8

// large starts runs with such inputs.
func (w *damageWorld) large(n int) (runs []journal.RunID) {
	w.t.Helper()
	for range n {
		input := journal.Payload{Data: []byte(`"` + strings.Repeat("l", largeBytes-2) + `"`)}
		runs = append(runs, start(w.t, w.j, journal.Start{Input: input}).Run)
	}
	return runs
}

// all returns the runs of all pages of a listing, newest first, and asserts that none is too large.
func (w *damageWorld) all(f journal.ListFilter) (runs []journal.Run) {
	w.t.Helper()
	for {
		page, err := w.j.List(w.t.Context(), f)
		if err != nil {
			w.t.Fatal(err)
		}
		var room driver.Listed
		for i := range page.Runs {
			if !room.Fits(&page.Runs[i]) {
				w.t.Errorf("a page of %d runs is too large", len(page.Runs))
			}
		}
		if page.Now.IsZero() {
			w.t.Error("a page without a time")
		}
		runs = append(runs, page.Runs...)
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	if !slices.IsSortedFunc(runs, func(a, b journal.Run) int { return bytes.Compare(b.ID[:], a.ID[:]) }) {
		w.t.Error("the order is broken")
	}
	return runs
}

// A listing that has met damage has pages of the same size as any other, and the rest behind them.
func TestDamageAmongLargeRuns(t *testing.T) {
	t.Parallel()
	w := newDamageWorld(t)
	want := w.large(3)
	lost, older := big(), big()
	want = append(want, start(t, w.j, journal.Start{}).Run, start(t, w.j, journal.Start{Input: older}).Run)
	w.damage(0, w.middle("runs", older))
	if runs := w.all(journal.ListFilter{}); len(runs) != 5 || len(runs[4].Input.Data) != largeBytes || len(runs[2].Input.Data) != largeBytes {
		t.Errorf("listed %d runs, want 5 with what they have", len(runs))
	}
	want = append(want[:3], start(t, w.j, journal.Start{Input: lost}).Run)
	want = append(want, w.large(2)...)
	w.damage(0, w.middle("runs", lost))
	slices.Reverse(want)
	for _, f := range []journal.ListFilter{{IDs: want}, {IDs: want, Limit: 2}, {IDs: want, Where: "version = 1"}} {
		runs := w.all(f)
		if len(runs) != len(want) {
			t.Errorf("%+v: %d runs, want %d", f, len(runs), len(want))
			continue
		}
		for i := range runs {
			if runs[i].ID != want[i] || (runs[i].Unreadable != nil) != (i == 2) || i != 2 && len(runs[i].Input.Data) != largeBytes {
				t.Errorf("%+v: run %d is %s with an input of %d bytes: %v", f, i, runs[i].ID, len(runs[i].Input.Data), runs[i].Unreadable)
			}
		}
	}
}

// A page of the table of runs is lost with the rows that it has, and the runs of no other page are.
func TestJ2_ADamagedPageOfRuns(t *testing.T) {
	t.Parallel()
	w := newDamageWorld(t)
	runs := slices.Concat(w.large(2), w.many("flow", 200), w.large(3))
	few := []journal.RunID{runs[0], runs[1], runs[100], runs[203], runs[204]}
	at := w.holding("runs", "id", runs[100])
	empty := w.holding("runs", "id", runs[20])
	on := func(p page) int {
		return query[int](t, w.conn, `SELECT count(*) FROM reprise.runs WHERE (ctid::text::point)[0]::int = $1`, p.block)
	}
	lost, gone := on(at), on(empty)
	if lost == 0 || lost > 50 || gone == 0 || gone > 50 || at == empty {
		t.Fatalf("%d runs are on one page, %d on another", lost, gone)
	}
	w.damage(0xee, at)
	w.damage(0, empty)
	claimed := claim(t, w.j, w.node, 300)
	var damaged []journal.RunID
	for _, task := range claimed {
		switch {
		case task.Run.Unreadable == nil:
		case strings.Contains(task.Run.Unreadable.Error(), "it is not there; see Damaged data"):
			gone--
		default:
			w.wantDamaged("a claim", task.Run.Unreadable, task.Run.ID, "row")
			damaged = append(damaged, task.Run.ID)
		}
	}
	if len(claimed) != len(runs) || len(damaged) != lost || gone != 0 {
		t.Errorf("%d runs of %d were claimed, %d of them are damaged; want %d, and %d more that are gone", len(claimed), len(runs), len(damaged), lost, gone)
	}
	runs = slices.DeleteFunc(runs, func(id journal.RunID) bool { // of the page without rows nothing is known
		return !slices.Contains(damaged, id) && query[int](t, w.conn, `SELECT count(*) FROM reprise.runs WHERE id = $1`, [16]byte(id)) == 0
	})
	requests := make([]driver.LoadRequest, len(runs))
	for i := range runs {
		requests[i].Run = runs[i]
	}
	list, err := w.j.Load(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := 0, 0; i < len(list); i++ {
		if list[i].Err != nil {
			w.wantDamaged("a load", list[i].Err, runs[i], "row")
			n++
		}
		if i == len(list)-1 && n != lost {
			t.Errorf("%d runs cannot be loaded, want %d", n, lost)
		}
	}
	listed, n := w.all(journal.ListFilter{IDs: runs, Limit: 300}), 0
	for i := range listed {
		if listed[i].Unreadable != nil {
			w.wantDamaged("a list", listed[i].Unreadable, listed[i].ID, "row")
			n++
		}
	}
	if len(listed) != len(runs) || n != lost || len(listed[0].Input.Data) != largeBytes {
		t.Errorf("%d of %d runs are listed as damaged; want %d of %d", n, len(listed), lost, len(runs))
	}
	if listed = w.all(journal.ListFilter{IDs: few}); len(listed) != len(few) {
		t.Errorf("%d of %d runs are listed", len(listed), len(few))
	}
	if page, err := w.j.List(t.Context(), journal.ListFilter{IDs: damaged[:1], Version: 2}); err != nil || len(page.Runs) > 0 {
		t.Errorf("a run of which nothing is known is taken for one of another version: %v, %v", page, err)
	}
	_, err = w.j.List(t.Context(), journal.ListFilter{Limit: 200}) // in the order of the table, past the page
	if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "docs/operating-postgres.md") {
		t.Errorf("a list that passes the page: %v", err)
	}
	starts, err := w.j.Start(t.Context(), nil, []journal.Start{{ID: runs[0], Workflow: "flow"}, {ID: damaged[0], Workflow: "flow"}, {Workflow: "flow"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range starts {
		if errors.Is(s.Err, journal.ErrDamaged) != (i == 1) || i != 1 && s.Err != nil {
			t.Errorf("start %d: %+v", i, s)
		}
	}
}

// A page of the table of tasks hides them from everybody. Other routes go on, and a line of the log
// says what is left out.
func TestADamagedPageOfTasks(t *testing.T) {
	t.Parallel()
	w := newDamageWorld(t)
	runs := w.many("flow", 300)
	late := start(t, w.j, journal.Start{Delay: time.Hour}).Run
	others, third, fourth := w.many("other", 300), w.many("third", 320), w.many("fourth", 30)
	w.damage(0xee, w.holding("tasks", "run_id", runs[10]), w.holding("tasks", "run_id", late), w.holding("tasks", "run_id", others[100]))
	var log bytes.Buffer
	w.j = driver.New(open(t, w.server.DSN("postgres"), &postgres.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), nil)
	var routes []journal.Route
	for _, workflow := range strings.Fields("flow other third fourth") {
		routes = append(routes, journal.Route{Queue: journal.DefaultQueue, Workflow: workflow, Version: 1})
	}
	m, err := w.j.Join(t.Context(), journal.Node{Name: "node", Routes: routes, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for range 12 {
		c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: m.ID(), Routes: routes, Max: 50})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Tasks) > 50 || c.Now.IsZero() {
			t.Fatalf("claimed %d tasks at %s", len(c.Tasks), c.Now)
		}
		for _, task := range c.Tasks {
			if got++; task.Run.Workflow != "third" && task.Run.Workflow != "fourth" || task.Run.Unreadable != nil {
				t.Fatalf("claimed %+v", task.Run)
			}
		}
	}
	if got != len(third)+len(fourth) {
		t.Errorf("%d runs of the other workflows were claimed, want %d", got, len(third)+len(fourth))
	}
	if n := strings.Count(log.String(), `msg="a part of the queue is damaged and is left out; the rest goes on" what="tasks of workflow flow in queue default"`); n != 1 || !strings.Contains(log.String(), "XX001") {
		t.Errorf("%d lines of the log say what is left out, want 1:\n%s", n, log.String())
	}
	for n := 1; n <= 2; n++ {
		_, err = w.j.Claim(t.Context(), driver.ClaimRequest{Node: m.ID(), Routes: routes[:n], Max: 50})
		if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "docs/operating-postgres.md") {
			t.Errorf("a claim of %d damaged routes alone: %v", n, err)
		}
	}
}
