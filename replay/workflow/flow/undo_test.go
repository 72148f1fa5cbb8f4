package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestUndoInReverse: what has completed is undone, last first, with its result; what was skipped or
// has not completed is not, and of a map the items that have completed are.
func TestUndoInReverse(t *testing.T) {
	var undone []string
	undo := func(what string) func(context.Context, int) error {
		return func(_ context.Context, v int) error {
			undone = append(undone, fmt.Sprint(what, v))
			return nil
		}
	}
	o := play(t, []int{1, 2, 3}, func(f *flow.Flow[[]int]) {
		a := flow.Step(f, "a", f.Input(), give[[]int](10), nil).Undo(undo("a"), nil)
		b := flow.Step(f, "b", a, give[int](20), nil).Undo(undo("b"), nil)
		gone := flow.Step(f, "gone", b, pass, ifs(never(b))).Undo(undo("gone"), nil)
		m := flow.Map(f, "m", f.Input(), func(_ context.Context, i int) (int, error) {
			if i == 3 {
				return 0, workflow.Permanent(errBroken)
			}
			return i, nil
		}, &flow.Options{Window: 1}).Undo(func(_ context.Context, list []int) error {
			undone = append(undone, fmt.Sprint("m", list))
			return nil
		}, nil).After(b, gone)
		flow.Step(f, "never", m, give[[]int](0), nil).Undo(undo("never"), nil)
	})
	o.fails(t, "node m: item 2: step m: broken")
	if want := []string{"m[1 2]", "b20", "a10"}; !slices.Equal(undone, want) {
		t.Errorf("undone is %q, want %q\n%s", undone, want, o.history)
	}
	if !o.nodes["a"].Undone || !o.nodes["m"].Undone || o.nodes["gone"].Undone {
		t.Errorf("the state does not tell what was undone: %+v", o.state.Nodes)
	}
}

// TestUndoFails: the run says so, and goes on with the others.
func TestUndoFails(t *testing.T) {
	undone := 0
	o := play(t, 1, func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), pass, nil).Undo(func(context.Context, int) error { undone++; return nil }, nil)
		b := flow.Step(f, "b", a, pass, nil).Undo(func(context.Context, int) error { return errBroken }, once)
		flow.Step(f, "c", b, breaks[int, int], nil)
	})
	o.fails(t, "node c: step c: it is broken; could not undo: step undo b: broken")
	if undone != 1 {
		t.Errorf("the other node was undone %d times", undone)
	}
}

// TestUndoOfCancelled: a cancelled run waits for what is under way, undoes it, and has not failed.
func TestUndoOfCancelled(t *testing.T) {
	var undone []string
	undo := func(what string) func(context.Context, string) error {
		return func(context.Context, string) error { undone = append(undone, what); return nil }
	}
	o := playWith(t, 1, func(e *runtimetest.Env, run journal.RunID) {
		e.After(time.Minute, func() { e.Cancel(run, "enough") })
	}, func(f *flow.Flow[int]) {
		flow.Step(f, "quick", f.Input(), give[int]("q"), nil).Undo(undo("quick"), nil)
		flow.Step(f, "slow", f.Input(), func(ctx context.Context, _ int) (string, error) {
			<-ctx.Done()
			return "it took effect", nil
		}, &flow.Options{Exhausted: flow.Skip}).Undo(undo("slow"), nil)
		flow.Step(f, "cut", f.Input(), func(ctx context.Context, _ int) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, &flow.Options{Exhausted: flow.Skip}).Undo(undo("cut"), nil)
	})
	if !errors.Is(o.err, workflow.ErrCancelled) || o.state.Run != "cancelled" {
		t.Errorf("the run ended with %v, %s", o.err, o.state.Run)
	}
	if want := []string{"slow", "quick"}; !slices.Equal(undone, want) {
		t.Errorf("undone is %q, want %q\n%s", undone, want, o.history)
	}
	o.stands(t, "cut", "cancelled")
}

// TestWaits: signals and times are nodes; a node may have a limit of time, and what it means that
// it was exceeded is its mode's.
func TestWaits(t *testing.T) {
	const approved workflow.Signal[string] = "approved"
	declare := func(f *flow.Flow[time.Time]) {
		day := flow.Until(f, "day", f.Input(), nil)
		nap := flow.Sleep(f, "nap", time.Hour, nil).After(day)
		yes := flow.Wait(f, "yes", approved, &flow.Options{Timeout: 24 * time.Hour, Exhausted: flow.Skip}).After(nap)
		flow.Step(f, "go", flow.Or(yes, "nobody"), pass, nil)
		flow.Step(f, "late", flow.Join(f.Input(), nap, func(a, b time.Time) string { return b.Sub(a).String() }), pass, nil)
		flow.Step(f, "stuck", f.Input(), func(ctx context.Context, _ time.Time) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, &flow.Options{Timeout: time.Minute, Exhausted: flow.Skip})
	}
	begin := func(t *testing.T, do func(*runtimetest.Env, journal.RunID)) *outcome {
		return playWith(t, time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC), do, declare) // bubbles begin a day before
	}
	o := begin(t, func(e *runtimetest.Env, run journal.RunID) {
		runtimetest.Signal(e, run, approved, "the boss", nil)
	})
	o.wants(t, `{"go":"the boss","late":"1h0m0s"}`)
	o.stands(t, "yes", "completed")
	o.stands(t, "stuck", "skipped, handler_failed")
	o = begin(t, nil)
	o.wants(t, `{"go":"nobody","late":"1h0m0s"}`)
	o.stands(t, "yes", "skipped, handler_failed")
	if n := o.nodes["yes"]; n.Ended.Sub(n.Began) != 24*time.Hour {
		t.Errorf("the wait took %s", n.Ended.Sub(n.Began))
	}
}

// TestNested: a flow in a flow is a child run, whose nodes are found in its result; its failure is
// the node's.
func TestNested(t *testing.T) {
	inner := flow.New[int]("inner", nil)
	twice := flow.Step(inner, "twice", inner.Input(), func(_ context.Context, i int) (int, error) {
		if i < 0 {
			return 0, workflow.Permanent(errBroken)
		}
		return 2 * i, nil
	}, nil)
	outer := flow.New[int]("outer", nil)
	sub := flow.Nest(outer, "sub", outer.Input(), inner, nil)
	flow.Step(outer, "result", flow.Apply(sub, func(r flow.Results) int {
		v, _, _ := twice.In(r)
		return v
	}), pass, nil)
	flow.Call(outer, "call", outer.Input(), inner.Name(), &flow.Options{Exhausted: flow.Skip})
	more := func(e *runtimetest.Env) { runtimetest.Handle(e, inner.Name(), inner.Build(), nil) }
	playFlow(t, outer, 21, nil, more).wants(t, `{"call":{"twice":42},"result":42}`)
	o := playFlow(t, outer, -1, nil, more)
	o.fails(t, "node sub: ", "node twice: step twice: broken")
	failed := new(flow.NodeError)
	if !errors.As(o.err, &failed) || failed.Node != "sub" {
		t.Errorf("%+v", failed)
	}
	if n := outer.Shape().Nodes[2]; n.Nested == nil || n.Nested.Nodes[0].Name != "twice" || n.Calls != "inner" {
		t.Errorf("the shape does not hold the nested one: %+v", n)
	}
	a, b := flow.New[int]("a", nil), flow.New[int]("b", nil)
	flow.Nest(a, "to-b", a.Input(), b, nil)
	flow.Nest(b, "to-a", b.Input(), a, nil)
	if err := a.Check(); err == nil || !strings.Contains(err.Error(), "it nests itself: a → b → a") {
		t.Errorf("flows that nest each other: %v", err)
	}
	wrong, holds := flow.New[int]("wrong", nil), flow.New[int]("holds", nil)
	flow.Step(wrong, "1st", wrong.Input(), pass, nil)
	flow.Nest(holds, "sub", holds.Input(), wrong, nil)
	if err := holds.Check(); err == nil || !strings.Contains(err.Error(), "node sub: flow wrong cannot run: node 1st: a name begins") {
		t.Errorf("a flow that holds a wrong one: %v", err)
	}
}

// TestEveryCrash: a flow comes to the same whichever commit its node dies at.
func TestEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		f := flow.New[[]int]("tested", nil)
		m := flow.Map(f, "m", f.Input(), pass, &flow.Options{Chunk: 2})
		cond := flow.Step(f, "cond", m, pass, ifs(flow.When(m, func(l []int) bool { return len(l) == 3 })))
		gone := flow.Step(f, "gone", m, pass, ifs(never(m)))
		flow.Sleep(f, "nap", time.Hour, nil).After(cond)
		flow.Step(f, "end", flow.Gather(m, cond, gone), pass, nil)
		runtimetest.Handle(e, f.Name(), f.Build(), nil)
		out := runtimetest.Start(e, f.Name(), []int{1, 2, 3}, nil).Must()
		if want := `{"cond":[1,2,3],"m":[1,2,3]}`; string(out["end"]) != want {
			e.Errorf("the output is %s, want %s", out["end"], want)
		}
	})
}

// TestStepOptions: a step has the options of its node, else those of the flow.
func TestStepOptions(t *testing.T) {
	attempts := map[string]int{}
	fail := func(ctx context.Context, _ int) (int, error) {
		a, _ := workflow.StepInfo(ctx)
		attempts[a.Step]++
		return 0, errBroken
	}
	f := flow.New[int]("tested", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 2}})
	flow.Step(f, "flows", f.Input(), fail, &flow.Options{Exhausted: flow.Skip})
	flow.Step(f, "own", f.Input(), fail, &flow.Options{Exhausted: flow.Skip, Step: &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 4}}})
	flow.Map(f, "map", flow.Apply(f.Input(), func(int) []int { return []int{1} }), fail, &flow.Options{Exhausted: flow.Skip})
	playFlow(t, f, 1, nil, nil).wants(t, "null")
	if attempts["flows"] != 2 || attempts["own"] != 4 || attempts["map"] != 2 {
		t.Errorf("the attempts are %v", attempts)
	}
}

// TestStepTx: the effect of a node that works in a transaction happens once, whichever commit the
// cluster's node dies at.
func TestStepTx(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		effects := 0
		f := flow.New[int]("tested", nil)
		book := flow.StepTx(f, "book", f.Input(), func(_ context.Context, tx *memory.Effects, v int) (int, error) {
			tx.Do(func() { effects++ })
			return v + 1, nil
		}, nil)
		flow.Step(f, "after", book, pass, nil)
		runtimetest.Handle(e, f.Name(), f.Build(), nil)
		out := runtimetest.Start(e, f.Name(), 1, nil).Must()
		if string(out["after"]) != "2" || effects != 1 {
			e.Errorf("the output is %s, with %d effects", asJSON(out), effects)
		}
	})
}
