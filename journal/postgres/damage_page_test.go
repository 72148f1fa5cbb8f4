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

// A page of the table of runs is lost with the rows that it has, and the runs of no other page are.
func TestJ2_ADamagedPageOfRuns(t *testing.T) {
	t.Parallel()
	w := newDamageWorld(t)
	runs := w.many("flow", 200)
	at := w.holding("runs", "id", runs[100])
	empty := w.holding("runs", "id", runs[10])
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
	page, err := w.j.List(t.Context(), journal.ListFilter{IDs: runs, Limit: 300})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range page.Runs {
		if page.Runs[i].Unreadable != nil {
			w.wantDamaged("a list", page.Runs[i].Unreadable, page.Runs[i].ID, "row")
			n++
		}
	}
	if len(page.Runs) != len(runs) || n != lost || page.Now.IsZero() {
		t.Errorf("%d of %d runs are listed as damaged at %s; want %d of %d", n, len(page.Runs), page.Now, lost, len(runs))
	}
	if page, err = w.j.List(t.Context(), journal.ListFilter{IDs: damaged[:1], Version: 2}); err != nil || len(page.Runs) > 0 {
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
