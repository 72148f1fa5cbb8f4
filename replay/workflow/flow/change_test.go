package flow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const changing workflow.Name[int, flow.Results] = "changing"

// variant is a flow a → b → c, changed.
type variant func(f *flow.Flow[int])

func (v variant) flow() *flow.Flow[int] {
	f := flow.New(changing, nil)
	v(f)
	return f
}

func (v variant) code() *replaytest.Registry {
	var r replaytest.Registry
	replaytest.Handle(&r, changing, v.flow().Build(), nil)
	return &r
}

func chain(f *flow.Flow[int]) (a, b, c *flow.Node[int]) {
	a = flow.Step(f, "a", f.Input(), pass, nil)
	b = flow.Step(f, "b", a, pass, nil)
	return a, b, flow.Step(f, "c", b, pass, nil)
}

func before(f *flow.Flow[int]) { chain(f) }

// recorded is a run of the flow that stands in b.
const recorded = "run changing 1\ncompleted a 1"

// TestChanges is the rule for nodes that are added, removed, and given other parents: what lies
// ahead of a run may be changed, what lies behind blocks it and is named.
func TestChanges(t *testing.T) {
	open, err := replaytest.Record(variant(before).code(), recorded)
	if err != nil {
		t.Fatal(err)
	}
	open.Open = true
	for _, tc := range []struct {
		name  string
		now   variant
		wrong []string // what the error names; nil if the run goes on
		diff  []string // of the shapes
	}{
		{"nothing", before, nil, nil},
		{"declared in another order", func(f *flow.Flow[int]) {
			c := flow.Sleep(f, "x", 0, nil)
			_, _, last := chain(f)
			c.After(last)
		}, nil, []string{"node x is added, after c"}},
		{"a node is added ahead", func(f *flow.Flow[int]) {
			_, b, c := chain(f)
			c.After(flow.Step(f, "between", b, pass, nil))
		}, nil, []string{"node between is added, after b", "node c comes after b, between, no longer after b"}},
		{"a node is added behind", func(f *flow.Flow[int]) {
			a, _, _ := chain(f)
			flow.Step(f, "aa", a, pass, nil)
		}, []string{"step aa", "step b"}, []string{"node aa is added, after a"}},
		{"a node ahead is removed", func(f *flow.Flow[int]) {
			flow.Step(f, "b", flow.Step(f, "a", f.Input(), pass, nil), pass, nil)
		}, nil, []string{"node c is removed"}},
		{"a node behind is removed", func(f *flow.Flow[int]) {
			flow.Step(f, "c", flow.Step(f, "a", f.Input(), pass, nil), pass, nil)
		}, []string{"step b", "step c"}, []string{"node b is removed", "node c comes after a, no longer after b"}},
		{"a node ahead gets other parents that are ahead", func(f *flow.Flow[int]) {
			_, b, _ := chain(f)
			d := flow.Step(f, "d", b, pass, nil)
			flow.Step(f, "e", d, pass, nil)
		}, nil, []string{"node d is added, after b", "node e is added, after d"}},
		{"a node ahead gets a parent that has ended", func(f *flow.Flow[int]) {
			a := flow.Step(f, "a", f.Input(), pass, nil)
			flow.Step(f, "b", a, pass, nil)
			flow.Step(f, "c", a, pass, nil)
		}, []string{"step c"}, []string{"node c comes after a, no longer after b"}},
		{"a node under way gets a parent ahead", func(f *flow.Flow[int]) {
			a, b, c := chain(f)
			_, _ = a, c
			b.After(flow.Step(f, "d", a, pass, nil))
		}, []string{"step d", "step b"}, []string{"node b comes after a, d, no longer after a", "node d is added, after a"}},
		{"a node is added behind, since a change", func(f *flow.Flow[int]) {
			a, _, _ := chain(f)
			flow.Step(f, "aa", a, pass, &flow.Options{Since: "aa"})
		}, nil, []string{"node aa is added, after a"}},
		{"a node behind is there until a change", func(f *flow.Flow[int]) {
			a := flow.Step(f, "a", f.Input(), pass, nil)
			b := flow.Step(f, "b", a, pass, &flow.Options{Until: "no b"})
			flow.Step(f, "c", flow.Or(b, 0), pass, nil)
		}, nil, []string{`node b was {"name":"b","kind":"step"} and is {"name":"b","kind":"step","unmet":"skip","until":"no b"}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := tc.now.flow()
			if got := variant(before).flow().Shape().Difference(f.Shape()); !slices.Equal(got, tc.diff) {
				t.Errorf("the shapes differ in %q, want %q", got, tc.diff)
			}
			err := replaytest.Check(tc.now.code(), open)
			diverged := new(replaytest.Mismatch)
			if tc.wrong == nil && err != nil || tc.wrong != nil && !errors.As(err, &diverged) {
				t.Fatalf("the changed flow on the run: %v", err)
			}
			for _, name := range tc.wrong {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%v does not name %s", err, name)
				}
			}
		})
	}
}

// TestSinceAndUntil: runs that passed the place do without the new node and have the old one, all
// others the other way around.
func TestSinceAndUntil(t *testing.T) {
	now := variant(func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), pass, nil)
		b := flow.Step(f, "b", a, pass, &flow.Options{Until: "B for b"})
		bb := flow.Step(f, "bb", a, give[int](100), &flow.Options{Since: "B for b"})
		flow.Step(f, "c", flow.Join(flow.Or(b, 0), flow.Or(bb, 0), func(x, y int) int { return x + y }), pass, nil)
	})
	for _, tc := range []struct {
		old  variant
		want int
	}{{before, 1}, {nil, 100}} {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			deployed := tc.old
			if deployed == nil {
				deployed = now
			}
			release := make(chan struct{})
			runtimetest.Handle(e, changing, func(ctx workflow.Context, in int) (flow.Results, error) {
				return deployed.flow().Build()(ctx, in)
			}, nil)
			runtimetest.Fake(e, "c", func(ctx context.Context) (int, error) { return 0, errors.New("not this one") })
			runtimetest.Fake(e, "b", func(ctx context.Context) (int, error) {
				select {
				case <-release:
					return 1, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			})
			run := runtimetest.Start(e, changing, 1, nil)
			e.Sleep(time.Minute)
			deployed = now
			e.Restart()
			close(release)
			runtimetest.Fake(e, "c", func(ctx context.Context) (int, error) { return 7, nil })
			run.Must()
			h := e.History(run.ID())
			st := now.flow().Shape().State(h.Events)
			ran := "bb"
			if tc.want == 1 {
				ran = "b"
			}
			for _, n := range st.Nodes {
				if skipped := n.Status == flow.StatusSkipped; strings.HasPrefix(n.Name, "b") && skipped == (n.Name == ran) {
					e.Errorf("node %s is %s, %s should have run:\n%s", n.Name, n.Status, ran, h)
				}
			}
			began := now
			if tc.old != nil {
				began = tc.old
			}
			if hash, ok := flow.ShapeOf(h.Events); !ok || hash != began.flow().Shape().Hash() {
				e.Errorf("the run began with shape %q", hash)
			}
		})
	}
}

// TestConditionsMayChange: what a condition has once said holds.
func TestConditionsMayChange(t *testing.T) {
	with := func(answer bool) variant {
		return func(f *flow.Flow[int]) {
			a := flow.Step(f, "a", f.Input(), pass, nil)
			flow.Step(f, "b", a, pass, ifs(flow.When(a, func(int) bool { return answer })))
		}
	}
	for _, answer := range []bool{true, false} {
		script := recorded
		if answer {
			script += "\ncompleted b 1"
		}
		h, err := replaytest.Record(with(answer).code(), script)
		if err != nil {
			t.Fatal(err)
		}
		if err := replaytest.Check(with(!answer).code(), h); err != nil {
			t.Errorf("a condition that said %t: %v", answer, err)
		}
	}
}
