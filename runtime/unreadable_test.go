package runtime_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// spoilt is a part of a run that is made unreadable, and what is told of the run then.
type spoilt struct {
	spoil, mend string // statements; $1 is the run
	intact      string // counts the parts that hold what spoil wrote
	says        []string
	events      int // that the history shows; -1: all, without an error
}

var spoiltParts = map[string]spoilt{
	"attempts": {
		`UPDATE reprise.tasks SET attempts = '{"v":2}' WHERE run_id = $1`, `UPDATE reprise.tasks SET attempts = '' WHERE run_id = $1`,
		`SELECT count(*) FROM reprise.tasks WHERE run_id = $1 AND attempts = '{"v":2}'`, []string{"column attempts", "newer release", "by hand"}, -1,
	},
	"labels": {
		`UPDATE reprise.runs SET labels = '["x"]' WHERE id = $1`, `UPDATE reprise.runs SET labels = NULL WHERE id = $1`,
		`SELECT count(*) FROM reprise.runs WHERE id = $1 AND labels = '["x"]'`, []string{"column labels"}, -1,
	},
	"priority": { // a run that waits for a slot has a place in the queue of its priority
		`UPDATE reprise.runs SET priority = 6 WHERE id = $1`, `UPDATE reprise.runs SET priority = 3 WHERE id = $1`,
		`SELECT count(*) FROM reprise.runs WHERE id = $1 AND priority = 6`, []string{"column priority", "6 is not known", "a newer one wrote it"}, -1,
	},
	"timeout": {
		`UPDATE reprise.runs SET timeout = -9223372036854775808 WHERE id = $1`, `UPDATE reprise.runs SET timeout = NULL WHERE id = $1`,
		`SELECT count(*) FROM reprise.runs WHERE id = $1 AND timeout < 0`, []string{"column timeout", "microseconds"}, -1,
	},
	"word": {
		`UPDATE reprise.events SET issued = 'warp drive' WHERE run_id = $1 AND seq = 1`,
		`UPDATE reprise.events SET issued = 'step first' WHERE run_id = $1 AND seq = 1`,
		`SELECT count(*) FROM reprise.events WHERE run_id = $1 AND issued = 'warp drive'`, []string{"event 1", `"warp"`, "a newer one wrote it"}, 0,
	},
	"kind": {
		`UPDATE reprise.events SET kind = 99 WHERE run_id = $1 AND seq = 2`, `UPDATE reprise.events SET kind = 2 WHERE run_id = $1 AND seq = 2`,
		`SELECT count(*) FROM reprise.events WHERE run_id = $1 AND kind = 99`, []string{"event 2", "kind 99", "a newer one wrote it"}, 1,
	},
	"message": {
		`UPDATE reprise.inbox SET kind = 77 WHERE run_id = $1`, `UPDATE reprise.inbox SET kind = 1 WHERE run_id = $1`,
		`SELECT count(*) FROM reprise.inbox WHERE run_id = $1 AND kind = 77`, []string{"message 1", "kind 77", "a newer one wrote it"}, -1,
	},
}

// A run that cannot be read is blocked, with a problem that names it and what of it; all others go
// on, and everything that can be told of it is told. When it can be read again it goes on.
func TestUnreadableRunsAreBlockedAlone(t *testing.T) {
	c := clustertest.New(t)
	ctx, conn := clustertest.Context(t), c.Connect()
	register := func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) {
			read.Handle(ctx, func(int) (int, error) { return 2, nil })
			if err := step(ctx, "first"); err != nil {
				return 0, err
			}
			return number.Receive(ctx)
		}, nil)
	}
	client := runtime.NewClient(c.Journal, nil)
	a := c.Run(nil, register)
	runs, others := map[string]*runtime.Run[int]{}, []*runtime.Run[int]{}
	for name := range spoiltParts {
		started, err := runtime.Start(ctx, client, meter, 0, &runtime.StartOptions{Key: name})
		runs[name] = clustertest.MustStart(t, started, err)
		started, err = runtime.Start(ctx, client, meter, 0, nil)
		others = append(others, clustertest.MustStart(t, started, err))
	}
	for _, r := range runs {
		clustertest.Described(t, client, r.ID(), "it waits", func(d *runtime.Description) bool { return len(d.Waiting) > 0 })
	}
	for _, r := range others {
		clustertest.Described(t, client, r.ID(), "it waits", func(d *runtime.Description) bool { return len(d.Waiting) > 0 })
	}
	a.Stop() // what it has in memory it would not have to read
	for name, r := range runs {
		if err := runtime.Signal(ctx, client, r.ID(), number, 7, nil); err != nil {
			t.Fatal(err)
		}
		if tag, err := conn.Exec(ctx, spoiltParts[name].spoil, r.ID().String()); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v %v", name, tag, err)
		}
	}
	for _, r := range others {
		if err := runtime.Signal(ctx, client, r.ID(), number, 7, nil); err != nil {
			t.Fatal(err)
		}
	}

	n := c.Run(nil, register)
	for _, r := range others {
		if got, err := r.Result(ctx); err != nil || got != 7 {
			t.Fatalf("a neighbour: %d %v", got, err)
		}
	}
	for name, r := range runs {
		t.Run(name, func(t *testing.T) { unreadableIsTold(t, n.Node, r.ID(), name) })
	}
	page, err := client.List(ctx, journal.ListFilter{Workflow: string(meter)})
	if err != nil || len(page.Runs) != 2*len(runs) {
		t.Errorf("%d of %d runs are listed: %v", len(page.Runs), 2*len(runs), err)
	}
	for name, r := range runs {
		var intact int
		if err := conn.QueryRow(ctx, spoiltParts[name].intact, r.ID().String()).Scan(&intact); err != nil || intact != 1 {
			t.Errorf("%s: what could not be read was written over: %v", name, err)
		}
		if _, err := conn.Exec(ctx, spoiltParts[name].mend, r.ID().String()); err != nil {
			t.Fatal(err)
		}
		if err := client.Resume(ctx, r.ID()); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Result(ctx); err != nil || got != 7 {
			t.Errorf("%s: when it can be read again: %d %v", name, got, err)
		}
	}
}

// unreadableIsTold asks everything that can be asked about a run that cannot be read.
func unreadableIsTold(t *testing.T, n *runtime.Node, run journal.RunID, name string) {
	ctx, client, part := clustertest.Context(t), n.Client(), spoiltParts[name]
	says := func(what, text string) {
		t.Helper()
		for _, want := range append(part.says, run.String()) {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q: %s", what, want, text)
			}
		}
	}
	d := clustertest.Described(t, client, run, "it is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	says("the problem", d.Run.Task.Problem)
	says("Describe", fmt.Sprint(d.Run.Unreadable))
	if d.Run.Workflow != string(meter) || d.Run.Key != name {
		t.Errorf("described %+v", d.Run)
	}
	if id, err := client.FindKey(ctx, name); id != run || err != nil {
		t.Errorf("its key leads to %s, %v", id, err)
	}
	events, err := client.History(ctx, run)
	if part.events < 0 {
		if err != nil || len(events) != 2 {
			t.Errorf("a history of %d events, %v", len(events), err)
		}
	} else {
		if len(events) != part.events {
			t.Errorf("the history shows %d events, want %d", len(events), part.events)
		}
		says("History", fmt.Sprint(err))
	}
	_, err = runtime.Query(ctx, n, run, read, 0)
	says("Query", fmt.Sprint(err))
	clustertest.WantError[*journal.UnreadableError](t, err)
	if _, err := runtime.CallUpdate(ctx, client, run, bump, 1, nil); !errors.Is(err, runtime.ErrBlocked) {
		t.Errorf("an update: %v", err)
	}
}

// An unreadable run can still be closed.
func TestUnreadableRunIsTerminated(t *testing.T) {
	c := clustertest.New(t)
	ctx, conn, client := clustertest.Context(t), c.Connect(), runtime.NewClient(c.Journal, nil)
	for name, part := range spoiltParts {
		if strings.Contains(part.spoil, "reprise.events") || name == "message" {
			continue // nobody has executed it
		}
		started, err := runtime.Start(ctx, client, meter, 0, nil)
		r := clustertest.MustStart(t, started, err)
		if _, err := conn.Exec(ctx, part.spoil, r.ID().String()); err != nil {
			t.Fatal(err)
		}
		if err := client.Terminate(ctx, r.ID(), "enough"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err = r.Result(ctx)
		clustertest.WantError[*runtime.TerminatedError](t, err)
	}
}

// A run of which nothing can be read has no history that is empty: the error says what is lost.
func TestHistoryOfARunThatIsLost(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	client := runtime.NewClient(journal.New(store, nil), nil)
	started, err := runtime.Start(ctx, client, meter, 0, nil)
	run := clustertest.MustStart(t, started, err).ID()
	lost := &journal.UnreadableError{Run: run, Part: "row", Err: journal.ErrDamaged}
	store.Loaded = func(answer []driver.History) {
		for i := range answer {
			answer[i] = driver.History{Run: journal.Run{ID: run, Unreadable: lost}, Err: lost}
		}
	}
	if list, err := client.History(ctx, run); !errors.Is(err, journal.ErrDamaged) || len(list) > 0 {
		t.Errorf("its history: %v, %v", list, err)
	}
	d, err := client.Describe(ctx, run)
	if err != nil || !errors.Is(d.Run.Unreadable, journal.ErrDamaged) {
		t.Errorf("described: %+v, %v", d, err)
	}
}
