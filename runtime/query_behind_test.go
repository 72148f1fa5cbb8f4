package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const stage workflow.Query[string, string] = "stage"

// stages is code that takes two steps of which the second has a name, tells how far it has come,
// and waits. It panics when that step has ended, if it is told to.
func stages(second string, panics bool) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, _ string) (string, error) {
			at := "begun"
			stage.Handle(ctx, func(string) (string, error) { return at, nil })
			for _, name := range []string{"first", second} {
				if err := step(ctx, name); err != nil {
					return "", err
				}
				at = name + " done"
			}
			if panics {
				panic("no such parcel")
			}
			return approved.Receive(ctx)
		}, nil)
	}
}

// TestQueryOfABlockedRun: a run whose history the code does not fit, or on which it panics, is
// answered for as of the event before that, and the error says so; other code answers as ever.
func TestQueryOfABlockedRun(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	a := c.Run(nil, stages("old", false))
	client := runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, waiter, "", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Described(t, client, run.ID(), "it is parked", func(d *runtime.Description) bool { return d.Events == 3 && len(d.Waiting) > 0 })
	a.Stop()
	b := c.Run(nil, stages("new", false))
	if err := runtime.Signal(ctx, client, run.ID(), approved, "x", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, client, run.ID(), "it is blocked", func(d *runtime.Description) bool { return d.Run.Task.State == journal.Blocked })
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{{Client: func(ctx context.Context, _ *runtime.Call, next func(context.Context) error) error { return next(ctx) }}}
	intercepted := runtime.NewNode(c.Journal, o)
	stages("new", false)(intercepted)
	for what, n := range map[string]*runtime.Node{"the node that has blocked it": b.Node, "one with an interceptor": intercepted} {
		for range 2 { // what was replayed is of no use for the next question
			got, err := runtime.Query(ctx, n, run.ID(), stage, "")
			behind, diverged := clustertest.WantError[*runtime.BehindError](t, err), clustertest.WantError[*replay.DivergenceError](t, err)
			if got != "begun" || behind.Seq != 1 || diverged.Seq != 2 || !strings.Contains(err.Error(), "the answer is as of event 1") {
				t.Errorf("%s answers %q, %v", what, got, err)
			}
		}
	}
	if _, err := runtime.Query(ctx, b.Node, run.ID(), read, 0); strings.Contains(err.Error(), "the answer is") || clustertest.WantError[*replay.DivergenceError](t, err).Seq != 2 {
		t.Errorf("a query that it does not have: %v", err)
	}
	panicking := spare(c, stages("old", true))
	got, err := runtime.Query(ctx, panicking, run.ID(), stage, "")
	if behind := clustertest.WantError[*runtime.BehindError](t, err); got != "first done" || behind.Seq != 2 {
		t.Errorf("code that panics answers %q, %v", got, err)
	}
	clustertest.WantError[*replay.PanicError](t, err)
	if got := ask(t, spare(c, stages("old", false)), run.ID(), stage, ""); got != "old done" {
		t.Errorf("code that fits answers %q", got)
	}
	b.Stop()
}
