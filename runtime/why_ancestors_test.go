package runtime_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// Runs of nest call one that calls the next, an item each: true for one that needs the limit.
const (
	nest workflow.Name[[]bool, int] = "nest"
	stay workflow.Name[int, int]    = "stay" // for an hour
)

func handleNest(n *runtime.Node) {
	runtime.Handle(n, nest, func(ctx workflow.Context, children []bool) (int, error) {
		if len(children) == 0 {
			return 1, nil
		}
		o := &workflow.ChildOptions{}
		if children[0] {
			o.Limits = []workflow.StepLimit{{Name: "nest"}}
		}
		below, err := workflow.Call(ctx, nest, children[1:], o)
		return below + 1, err
	}, nil)
	runtime.Handle(n, stay, func(ctx workflow.Context, _ int) (int, error) { return 0, workflow.Sleep(ctx, time.Hour) }, nil)
}

// TestWhyNamesAParentThatHolds: a child that needs what its parent keeps while it waits for the child
// says so, also if the parent is further up, and what it says helps.
func TestWhyNamesAParentThatHolds(t *testing.T) {
	t.Parallel()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handleNest)
	defer stop()
	client, ctx := n.Client(), clustertest.Context(t)
	o := &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "nest"}}}
	for _, c := range []struct {
		who      string
		children []bool
		places   int
		stranger bool // has one of them
		text     string
	}{
		{"its parent", []bool{true}, 1, false, "its only place is held; it is number 1 of 1 in line; its parent"},
		{"an ancestor", []bool{false, true}, 1, false, "neither goes on; nobody knows when it begins"},
		{"its parent", []bool{true}, 2, true, "neither goes on; it may begin in"},
		{"its parent", []bool{true, true}, 2, false, "all 2 places are held"},
	} {
		if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "nest", Concurrency: c.places}); err != nil {
			t.Fatal(err)
		}
		end := func() {}
		if c.stranger {
			started, err := runtime.Start(ctx, client, stay, 0, o)
			stranger := clustertest.MustStart(t, started, err)
			end = func() {
				if err := client.Terminate(ctx, stranger.ID(), "the case is over"); err != nil {
					t.Error(err)
				}
			}
		}
		started, err := runtime.Start(ctx, client, nest, c.children, o)
		top := clustertest.MustStart(t, started, err)
		child := waits(t, client, 1)[0]
		r, e := whyOf(t, client, child.Run, runtime.ReasonLimit)
		holder := top.ID()
		if c.who == "its parent" {
			holder = e.Run.Parent.Run
		}
		for _, text := range []string{c.text, "; " + c.who + ", run " + holder.String() + ", holds a place: if that run waits for this one, neither goes on"} {
			if !strings.Contains(r.Text, text) {
				t.Errorf("%q has no %q", r.Text, text)
			}
		}
		if r.Limit.Expected.IsZero() == c.stranger {
			t.Errorf("%v: it may begin at %v", c.children, r.Limit.Expected)
		}
		i := slices.IndexFunc(r.Limit.Holders, func(h journal.LimitClaim) bool { return h.Run == holder })
		if i < 0 || !strings.HasPrefix(r.Remedy, "let both go on: reprise limit release "+r.Limit.Holders[i].Handle()+";") {
			t.Fatalf("the remedy is %q, the holders are %+v", r.Remedy, r.Limit.Holders)
		}
		if err := runtime.ReleaseClaim(ctx, client, r.Limit.Holders[i].Node, r.Limit.Holders[i].ID); err != nil {
			t.Fatal(err)
		}
		if got, err := top.Result(ctx); err != nil || got != len(c.children)+1 {
			t.Errorf("%v: %d, %v", c.children, got, err)
		}
		end()
	}
}

// A parent is not to blame for a rate that is spent.
func TestWhyOfARateBlamesNoParent(t *testing.T) {
	t.Parallel()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handleNest)
	defer stop()
	client, ctx := n.Client(), clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "nest", Concurrency: 9, Rate: journal.Rate{N: 1, Per: 10 * time.Hour}}); err != nil {
		t.Fatal(err)
	}
	started, err := runtime.Start(ctx, client, nest, []bool{true}, &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "nest"}}})
	top := clustertest.MustStart(t, started, err)
	r, _ := whyOf(t, client, waits(t, client, 1)[0].Run, runtime.ReasonLimit)
	held := slices.ContainsFunc(r.Limit.Holders, func(h journal.LimitClaim) bool { return h.Run == top.ID() })
	if !held || !strings.Contains(r.Text, "its rate is 1 per 10h0m0s") || strings.Contains(r.Text, "holds a place") || !strings.Contains(r.Remedy, "--rate N/TIME") {
		t.Errorf("%q, %q, holders %+v", r.Text, r.Remedy, r.Limit.Holders)
	}
}
