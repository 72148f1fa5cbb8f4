package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestFork: a fork goes on from a point of a run that has failed. What was done until then is not
// done again, and the run stays as it is.
func TestFork(t *testing.T) {
	s, c := newShop("b"), clustertest.New(t)
	s.first = true
	n := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", &runtime.StartOptions{Key: "k", Labels: map[string]string{"l": "v"}})
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	was, err := client.History(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	s.mend()
	s.executed()
	plan, err := client.Fork(ctx, run.ID(), runtime.BeforeFailure, &runtime.ForkOptions{Proof: n.Node, DryRun: true})
	if err != nil || !plan.Run.IsZero() || len(plan.Of.Steps) != 1 || plan.Of.Steps[0].Name != "b" || plan.Of.Run != run.ID() {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	forked, err := client.Fork(runtime.WithActor(ctx, "eva"), run.ID(), runtime.BeforeFailure, &runtime.ForkOptions{Proof: n.Node, Key: "k2", Reason: "what if"})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, forked.Run); got != "in,a,b,c,kid of in" {
		t.Errorf("result %q", got)
	}
	if diff := cmp.Diff([]string{"b 2/3", "c 2/4"}, s.executed()); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
	after, err := client.History(ctx, run.ID())
	if diff := cmp.Diff(was, after); diff != "" || err != nil {
		t.Errorf("the run is another one: %v (-want +got):\n%s", err, diff)
	}
	d, err := client.Describe(ctx, forked.Run)
	if err != nil || d.Run.Key != "k2" || d.Run.Rewound.Run != run.ID() || d.Run.Labels["l"] != "v" {
		t.Errorf("the fork: %+v, %v", d, err)
	}
	for _, id := range []journal.RunID{run.ID(), forked.Run} {
		entries, err := client.Audit(ctx, journal.AuditFilter{Run: id})
		if err != nil || len(entries) != 1 || entries[0].Verb != "fork" || entries[0].Actor != "eva" || entries[0].Reason != "what if" {
			t.Errorf("audit of %s: %+v, %v", id, entries, err)
		}
	}
	for what, refused := range map[string]func() error{
		"the key is taken": func() error {
			return second(client.Fork(ctx, run.ID(), "event:1", &runtime.ForkOptions{Proof: n.Node, Key: "k2"}))
		},
		"no proof": func() error { return second(client.Fork(ctx, run.ID(), "event:1", nil)) },
		"input with events": func() error {
			return second(client.Fork(ctx, run.ID(), "event:1", &runtime.ForkOptions{Proof: n.Node, Input: "x"}))
		},
		"no such event": func() error {
			return second(client.Fork(ctx, run.ID(), "event:99", &runtime.ForkOptions{Proof: n.Node}))
		},
		"no such run": func() error {
			return second(client.Fork(ctx, journal.NewRunID(), "event:1", &runtime.ForkOptions{Proof: n.Node}))
		},
	} {
		if err := refused(); err == nil {
			t.Errorf("%s: the fork is not refused", what)
		}
	}
}

// outcome waits for a run and returns its text.
func outcome(t *testing.T, client *runtime.Client, run journal.RunID) (out string) {
	t.Helper()
	out, err := runtime.RunOf(client, works, run).Result(clustertest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForkWithOtherResults: the code goes on from a result that an operator gives, whether the step
// had failed or not. What the code does with one must fit the events behind it.
func TestForkWithOtherResults(t *testing.T) {
	s, c := newShop("b"), clustertest.New(t)
	s.first = true
	n := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	events, err := client.History(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]journal.Seq{}
	for i := range events {
		at[events[i].Name] = events[i].Seq
	}
	last := runtime.AfterEvent(max(at["a"], at["b"]))
	forked, err := client.Fork(ctx, run.ID(), last, &runtime.ForkOptions{Proof: n.Node, Results: map[journal.Seq]any{at["b"]: "B"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := forked.Of.Replaced; len(r) != 1 || r[0].Name != "b" || !r[0].Failed || string(r[0].New.Data) != `"B"` {
		t.Errorf("replaced %+v", r)
	}
	if got := outcome(t, client, forked.Run); got != "in,a,B,c,kid of in" {
		t.Errorf("result %q", got)
	}
	s.mend()
	forked, err = client.Fork(ctx, run.ID(), runtime.AfterEvent(at["a"]), &runtime.ForkOptions{Proof: n.Node, Results: map[journal.Seq]any{at["a"]: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, forked.Run); got != "in,A,b,c,kid of in" {
		t.Errorf("result %q", got)
	}
	for _, step := range []string{"a", "b"} { // of an event that is kept, and of a step that is open at the point
		_, err = client.Fork(ctx, run.ID(), last, &runtime.ForkOptions{Proof: n.Node, Results: map[journal.Seq]any{at[step]: 7}})
		if err == nil || !strings.Contains(err.Error(), "output of step "+step+": decode") {
			t.Errorf("a result that the code does not take: %v", err)
		}
	}
	for what, results := range map[string]map[journal.Seq]any{
		"is asked for behind the point": {at["b"]: "B"}, "only outcomes of steps": {1: "B"}, "there is no event 99": {99: "B"},
	} {
		_, err := client.Fork(ctx, run.ID(), runtime.AfterEvent(2), &runtime.ForkOptions{Proof: n.Node, Results: results})
		if refused, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(refused.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestForkAnew: a fork from the start may have another input, version and queue.
func TestForkAnew(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.MustResult(t, run)
	forked, err := client.Fork(ctx, run.ID(), runtime.RunStart, &runtime.ForkOptions{Input: "new"})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, forked.Run); got != "new,a,b,c,kid of new" {
		t.Errorf("result %q", got)
	}
	forked, err = client.Fork(ctx, run.ID(), runtime.RunStart, &runtime.ForkOptions{Version: 2, Queue: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := client.Describe(ctx, forked.Run); err != nil || d.Run.Version != 2 || d.Run.Queue != "other" || d.Run.Task.Version != 2 || string(d.Run.Input.Data) != `"in"` {
		t.Errorf("the fork: %+v, %v", d, err)
	}
}

const (
	parentOfFork workflow.Name[string, string] = "parent"
	kidOfFork    workflow.Name[string, string] = "kid"
)

// TestForkWithAChild: a child of the kept events stays the run's. A fork that would wait for it is
// refused, and one that can have its outcome gets it.
func TestForkWithAChild(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, kidOfFork, func(ctx workflow.Context, in string) (string, error) { return worksSig.Receive(ctx) }, nil)
		runtime.Handle(n, parentOfFork, func(ctx workflow.Context, in string) (string, error) {
			kid := workflow.CallAsync(ctx, kidOfFork, in, nil)
			was := ctx.Info()
			got, err := kid.Get(ctx)
			now := ctx.Info()
			return fmt.Sprint(got, " ", was.Run, " ", was.Key, " ", now.Run, " ", now.Key), err
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, parentOfFork, "in", &runtime.StartOptions{Key: "k"})
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, client, run.ID(), "its child is there", func(d *runtime.Description) bool {
		return len(d.Children) == 1 && d.Children[0].Run != nil
	})
	kid := d.Children[0].Run.ID
	o := &runtime.ForkOptions{Proof: n.Node, Key: "k2"}
	_, err = client.Fork(ctx, run.ID(), runtime.AfterEvent(1), o)
	if refused, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(refused.Text, kid.String()) || refused.Run != run.ID() || !strings.Contains(refused.Text, "before event 1") {
		t.Fatalf("a fork that would wait for a child: %v", err)
	}
	if err := runtime.Signal(context.WithoutCancel(ctx), client, kid, worksSig, "word", nil); err != nil {
		t.Fatal(err)
	}
	if got, want := clustertest.MustResult(t, run), fmt.Sprintf("word %[1]s k %[1]s k", run.ID()); got != want {
		t.Errorf("result %q, want %q", got, want)
	}
	forked, err := client.Fork(ctx, run.ID(), runtime.AfterEvent(1), o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := runtime.RunOf(client, parentOfFork, forked.Run).Result(ctx)
	if want := fmt.Sprintf("word %s k %s k2", run.ID(), forked.Run); got != want || err != nil {
		t.Errorf("result of the fork %q, %v, want %q", got, err, want)
	}
}
