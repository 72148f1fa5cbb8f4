package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// J11: no step of a run in a paused scope starts, on each store: of runs that a node has, that wait,
// and that come later; until the resume, which sets all going.
func TestPauseScope(t *testing.T) {
	t.Run("Postgres", func(t *testing.T) {
		c, b := clustertest.New(t), newBelts()
		n, other := c.Run(nil, b.handle), c.Run(nil, b.handle)
		pausesAScope(t, runtime.NewClient(c.Journal, nil), b)
		n.Stop()
		other.Stop()
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		b := newBelts()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, b.handle)
		pausesAScope(t, n.Client(), b)
	})
}

func pausesAScope(t *testing.T, client *runtime.Client, b *belts) {
	ctx := runtime.WithActor(clustertest.Context(t), "eva")
	scope := journal.Scope{Workflow: string(belt)}
	start := func() *runtime.Run[int] {
		started, err := runtime.Start(ctx, client, belt, 1, nil)
		return clustertest.MustStart(t, started, err)
	}
	runs := []*runtime.Run[int]{start()}
	if name := <-b.began; name != "first" {
		t.Errorf("step %s has begun", name)
	}
	if err := client.PauseScope(ctx, scope, &runtime.PauseOptions{Reason: "the bank is down"}); err != nil {
		t.Fatal(err)
	}
	list, err := client.Pauses(ctx)
	if err != nil || len(list) != 1 || list[0].Scope != scope || list[0].Actor != "eva" || len(list[0].Unheeded) != 0 {
		t.Fatalf("pauses: %+v, %v", list, err)
	}
	for range 3 {
		runs = append(runs, start())
	}
	b.open <- nil
	for _, r := range runs {
		d := clustertest.Described(t, client, r.ID(), "nobody has it", func(d *runtime.Description) bool { return d.Run.Task.Owner == 0 })
		if want := map[bool]int{true: 2, false: d.Events}[r == runs[0]]; d.Events != want || d.Run.Task.State != journal.Ready {
			t.Errorf("it has %d events, want %d: %+v", d.Events, want, d.Run.Task)
		}
		if why, e := whyOf(t, client, r.ID(), runtime.ReasonPaused); why.Text != `eva has paused workflow "belt": the bank is down` ||
			why.Remedy != "let its runs go on: reprise workflow resume belt" || e.Reasons[0].Kind != runtime.ReasonPaused {
			t.Errorf("why: %+v", e.Reasons)
		}
	}
	elsewhere := journal.Scope{Queue: "nowhere"}
	for _, s := range []journal.Scope{elsewhere, {Workflow: string(belt), Version: 7}} { // every node heeds these by now, too
		if err := client.PauseScope(ctx, s, nil); err != nil {
			t.Error(err)
		}
		if err := client.ResumeScope(ctx, s); err != nil {
			t.Error(err)
		}
	}
	if n := len(b.began); n != 0 {
		t.Errorf("%d steps have begun in a paused scope", n)
	}
	if err := client.ResumeScope(ctx, scope); err != nil {
		t.Fatal(err)
	}
	for range 2 * len(runs) {
		b.open <- nil
	}
	for _, r := range runs {
		clustertest.MustResult(t, r)
	}
	entries, err := client.Audit(ctx, journal.AuditFilter{Actor: "eva"})
	if err != nil || len(entries) != 6 || entries[5].Verb != "pause" || entries[5].Detail != `workflow "belt"` || entries[0].Verb != "resume" {
		t.Errorf("audit: %+v, %v", entries, err)
	}
	if err := client.PauseScope(ctx, journal.Scope{}, nil); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a scope of nothing: %v", err)
	}
}

// J11: a pause waits for a node that has not answered, and names it. A node that has died is not
// waited for once others know, and one that joins starts nothing of the scope.
func TestPauseScopeOutlivesTheNode(t *testing.T) {
	c, b := clustertest.New(t), newBelts()
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	run := runOfADeadNode(t, c, client)
	scope := journal.Scope{Queue: "default"}
	impatient, giveUp := context.WithCancel(ctx)
	defer giveUp()
	paused := make(chan error, 1)
	go func() { paused <- client.PauseScope(impatient, scope, nil) }()
	clustertest.Until(t, "the pause is asked for", func() bool {
		list, err := client.Pauses(ctx)
		return err == nil && len(list) == 1
	})
	giveUp()
	err := <-paused
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nodes [1] have not answered yet") {
		t.Fatalf("a pause while a node is gone: %v", err)
	}
	if r, _ := whyOf(t, client, run.ID(), runtime.ReasonPaused); !strings.Contains(r.Text, "nodes [1] have not answered yet") {
		t.Errorf("why: %+v", r)
	}
	n := c.Run(nil, b.handle)
	if err := client.PauseScope(ctx, scope, nil); err != nil { // waits for the death to be noticed
		t.Fatal(err)
	}
	clustertest.Described(t, client, run.ID(), "nobody has it", func(d *runtime.Description) bool { return d.Run.Task.Owner == 0 })
	if len(b.began) > 0 {
		t.Errorf("step %s of a paused queue has begun", <-b.began)
	}
	if err := client.ResumeScope(ctx, scope); err != nil {
		t.Fatal(err)
	}
	b.open <- nil
	b.open <- nil
	clustertest.MustResult(t, run)
	n.Stop()
}
