package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
)

func ifs(list ...flow.Condition) *flow.Options { return &flow.Options{If: list} }

// never does not hold.
func never[T any](of flow.Source[T]) flow.Condition {
	return flow.When(of, func(T) bool { return false })
}

// Conditions on the input and on results: predicates, and patterns as jsonb's @>.
func TestRowConditions(t *testing.T) {
	for _, tc := range []struct {
		have, pattern string
		want          bool
	}{
		{`{"a":1,"b":2}`, `{"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1.0}`, `{"a":1}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":9007199254740993}`, `{"a":9007199254740992.0}`, false},
		{`{"a":0.1}`, `{"a":0.1000000000000000055}`, false},
		{`{"a":0.0120}`, `{"a":1.2E-2}`, true},
		{`{"a":1200}`, `{"a":1.2e+3}`, true},
		{`{"a":-0.0}`, `{"a":0e7}`, true},
		{`{"a":-1.0}`, `{"a":1}`, false},
		{`{"a":1e400}`, `{"a":10e399}`, true}, // no float
		{`{"a":1e400}`, `{"a":1.0e401}`, false},
		{`{"a":1e1000000000000}`, `{"a":10e999999999999}`, true}, // no memory has so many digits
		{`{"a":1e99999999999999999999}`, `{"a":1.0e99999999999999999998}`, false},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`{"a":null}`, `{"a":null}`, true},
		{`{}`, `{"a":null}`, false},
		{`{"a":[1,2,3]}`, `{"a":[3,1,1]}`, true},
		{`{"a":[1,2,3]}`, `{"a":[4]}`, false},
		{`{"a":[{"x":1,"y":2}]}`, `{"a":[{"y":2}]}`, true},
		{`{"a":{"b":{"c":true}}}`, `{"a":{"b":{}}}`, true},
		{`{"a":{"b":{"c":true}}}`, `{"a":{"c":true}}`, false},
		{`{"a":1}`, `{"a":{}}`, false},
		{`{"a":{}}`, `{"a":"x"}`, false},
		{`[1]`, `{}`, false},
	} {
		o := play(t, json.RawMessage(tc.have), func(f *flow.Flow[json.RawMessage]) {
			c := flow.Contains(f.Input(), json.RawMessage(tc.pattern))
			flow.Step(f, "if", f.Input(), give[json.RawMessage](true), ifs(c))
			flow.Step(f, "ifNot", f.Input(), give[json.RawMessage](true), ifs(flow.Not(c)))
		})
		want := `{"ifNot":true}`
		if tc.want {
			want = `{"if":true}`
		}
		if o.output != want {
			t.Errorf("%s contains %s: %s, want %s", tc.have, tc.pattern, o.output, want)
		}
	}
	// Of a parent, of several at once, and of one that was skipped.
	o := play(t, 1, func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), give[int](map[string]any{"ok": true, "n": 7}), nil)
		gone := flow.Step(f, "gone", f.Input(), give[int](none{}), ifs(never(f.Input())))
		flow.Step(f, "both", f.Input(), pass, ifs(flow.Contains(a, map[string]bool{"ok": true}), flow.When(f.Input(), func(i int) bool { return i == 1 })))
		flow.Step(f, "one", f.Input(), pass, ifs(flow.Contains(a, map[string]bool{"ok": true}), never(f.Input())))
		flow.Step(f, "of-gone", f.Input(), pass, ifs(flow.Not(flow.Contains(gone, none{}))))
		flow.Step(f, "with-gone", f.Input(), pass, ifs(flow.Contains(gone, none{})))
		flow.Step(f, "skipped", f.Input(), pass, ifs(flow.Skipped(gone)))
		flow.Step(f, "not-skipped", f.Input(), pass, ifs(flow.Skipped(a)))
		flow.Step(f, "when-gone", f.Input(), pass, ifs(flow.When(gone, func(none) bool { return true })))
	})
	o.wants(t, `{"both":1,"of-gone":1,"skipped":1}`)
	for _, n := range []string{"one", "with-gone", "not-skipped", "when-gone", "gone"} {
		o.stands(t, n, "skipped, condition_unmet")
	}
	f := flow.New[int]("tested", nil)
	flow.Step(f, "a", f.Input(), pass, ifs(flow.Contains(f.Input(), []int{1}), flow.Contains(f.Input(), func() {}), flow.Condition{}))
	err := f.Check()
	for _, want := range []string{"a pattern is a list, as in [1]: it must be an object", "a pattern is no JSON", "a condition is zero"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// What an unmet condition means: the run fails, the node is skipped, or all that depends on it.
func TestRowWhenUnmet(t *testing.T) {
	declare := func(mode flow.Mode) func(f *flow.Flow[[]int]) {
		return func(f *flow.Flow[[]int]) {
			in := f.Input()
			o := ifs(never(in))
			o.Unmet = mode
			a := flow.Step(f, "a", in, pass, o)
			m := flow.Map(f, "m", a, pass, nil)
			after := flow.Step(f, "after", in, pass, nil).After(m)
			flow.Step(f, "far", in, pass, nil).After(after)
			aside := flow.Sleep(f, "aside", time.Hour, nil)
			flow.Step(f, "two", flow.Maybe(a), pass, nil).After(aside)
		}
	}
	o := play(t, []int{1}, declare(flow.Fail))
	o.fails(t, "node a: the conditions of the node do not hold")
	if !errors.Is(o.err, flow.ErrUnmet) {
		t.Errorf("%v is no ErrUnmet", o.err)
	}
	o.stands(t, "a", "failed")
	o.stands(t, "aside", "left")
	o.stands(t, "far", "left")
	o = play(t, []int{1}, declare(""))
	o.wants(t, `{"far":[1],"two":{"Value":null,"OK":false}}`)
	o.stands(t, "a", "skipped, condition_unmet")
	o.stands(t, "m", "completed")
	o = play(t, []int{1}, declare(flow.SkipDescendants))
	o.wants(t, `null`)
	for _, n := range []string{"m", "after", "far", "two"} {
		o.stands(t, n, "skipped, dependency_skipped")
	}
	o.stands(t, "aside", "completed")
	// Of several that fail the first by name is told.
	play(t, 1, func(f *flow.Flow[int]) {
		for _, n := range []string{"c", "b", "d"} {
			flow.Step(f, n, f.Input(), pass, &flow.Options{If: []flow.Condition{never(f.Input())}, Unmet: flow.Fail})
		}
	}).fails(t, "node b: the conditions")
}

// The key of a skipped node is absent, which is not null.
func TestRowSkippedInput(t *testing.T) {
	o := play(t, 1, func(f *flow.Flow[int]) {
		gone := flow.Step(f, "gone", f.Input(), pass, ifs(never(f.Input())))
		null := flow.Step(f, "null", f.Input(), give[int, *int](nil), nil)
		flow.Step(f, "gathered", flow.Gather(gone, null), pass, nil)
		flow.Step(f, "or", flow.Or(gone, 7), pass, nil)
		flow.Step(f, "maybe", flow.Maybe(gone), func(_ context.Context, o flow.Optional[int]) (bool, error) { return o.OK, nil }, nil)
	})
	o.wants(t, `{"gathered":{"null":null},"maybe":false,"or":7}`)
	// Who needs the result of a node that may be skipped is refused; who is skipped with it is not.
	f := flow.New[int]("tested", nil)
	a := flow.Step(f, "a", f.Input(), pass, ifs(never(f.Input())))
	flow.Step(f, "b", a, pass, nil)
	c := flow.Step(f, "c", f.Input(), pass, &flow.Options{Exhausted: flow.Skip})
	flow.Step(f, "d", flow.Apply(c, func(i int) int { return i }), pass, nil)
	e := flow.Step(f, "e", f.Input(), pass, &flow.Options{If: []flow.Condition{never(f.Input())}, Unmet: flow.SkipDescendants})
	flow.Step(f, "g", e, pass, nil)
	err := f.Check()
	declared := new(flow.DeclarationError)
	if !errors.As(err, &declared) || len(declared.Problems) != 2 ||
		!strings.HasPrefix(declared.Problems[0], "node b: it takes the result of node a, which may be skipped") ||
		!strings.HasPrefix(declared.Problems[1], "node d: it takes the result of node c") {
		t.Errorf("problems: %v", err)
	}
}

// A node that has failed for good fails the run, is skipped, or takes its descendants along; its
// error is kept, and it ends once although several items fail.
func TestRowWhenExhausted(t *testing.T) {
	declare := func(mode flow.Mode) func(f *flow.Flow[int]) {
		return func(f *flow.Flow[int]) {
			bad := flow.Step(f, "bad", f.Input(), breaks[int, int], &flow.Options{Exhausted: mode})
			flow.Step(f, "next", flow.Or(bad, -1), pass, nil)
			flow.Step(f, "aside", f.Input(), pass, nil)
		}
	}
	o := play(t, 1, declare(""))
	o.fails(t, "node bad: step bad: it is broken")
	o.stands(t, "bad", "failed")
	o.stands(t, "next", "left")
	o = play(t, 1, declare(flow.Skip))
	o.wants(t, `{"aside":1,"next":-1}`)
	o.stands(t, "bad", "skipped, handler_failed")
	if got := o.nodes["bad"].Error; got != "it is broken" {
		t.Errorf("the node's error is %q", got)
	}
	o = play(t, 1, declare(flow.SkipDescendants))
	o.wants(t, `{"aside":1}`)
	o.stands(t, "next", "skipped, dependency_skipped")
	o = play(t, []int{0, 1, 2, 3}, func(f *flow.Flow[[]int]) {
		m := flow.Map(f, "m", f.Input(), breaks[int, int], &flow.Options{Exhausted: flow.Skip, Window: 4})
		flow.Step(f, "one", f.Input(), pass, nil).After(m)
		flow.Step(f, "two", flow.Or(m, nil), give[[]int](2), nil)
	})
	o.wants(t, `{"one":[0,1,2,3],"two":2}`)
	if n := strings.Count(o.history, "m: skipped"); n != 1 {
		t.Errorf("the map is skipped %d times:\n%s", n, o.history)
	}
}

// Everything that is wrong is said at once, and nothing has been started.
func TestRowValidation(t *testing.T) {
	f := flow.New[int]("tested", &workflow.StepOptions{Timeout: -1})
	other := flow.New[int]("other", nil)
	foreign := flow.Step(other, "x", other.Input(), pass, nil)
	a := flow.Step(f, "a", foreign, pass, &flow.Options{Step: &workflow.StepOptions{Retry: &workflow.RetryPolicy{Factor: 0.5}}})
	flow.Step[int, int, int](f, "b", nil, nil, nil)
	flow.Map(f, "c", flow.Apply[int, []int](a, nil), pass, &flow.Options{Chunk: -1, Window: -2, Quorum: 9})
	flow.Wait[int](f, "d", workflow.Signal[int]("bad\nname"), &flow.Options{Step: once, Child: &workflow.ChildOptions{}, Timeout: -time.Second})
	flow.Sleep(f, "e", -time.Second, &flow.Options{Unmet: flow.Skip, Exhausted: "explode"})
	flow.Call(f, "g", f.Input(), workflow.Name[int, int]("w"), &flow.Options{Child: &workflow.ChildOptions{Priority: 9}})
	flow.Nest[int, int](f, "h", f.Input(), nil, nil)
	flow.Step(f, "i", f.Input(), pass, nil).Undo(nil, nil).Undo(func(context.Context, int) error { return nil }, &workflow.StepOptions{OnCancel: 99})
	flow.Step(f, "j", f.Input(), pass, &flow.Options{Since: "x", Until: "x"})
	flow.Step(f, "k", f.Input(), pass, &flow.Options{Since: "~x"}).After(nil)
	err := f.Check()
	for _, want := range []string{
		"flow tested cannot run: the options of its steps: step \"step\": option Timeout is -1ns",
		"node a: it comes after node x of another flow, other: use what Nest returns",
		"option Retry.Factor is 0.5", "node b: its function is nil", "node b: a source, a function of one",
		"node c: a source, a function of one", "option Chunk is -1", "option Window is -2", "option Quorum is 9",
		"node d: option Step is for steps and maps", "node d: option Child is for Call and Nest", "option Timeout is -1s", "bad",
		"node e: it sleeps for -1s", "node e: option Unmet is for nodes with conditions", `option Exhausted is "explode"`,
		"node g: ", "node h: the flow that it nests is nil", "node i: its compensation is nil", "node i: it has more than one compensation",
		"option OnCancel is 99", "node j: options Since and Until name one change", "node k: options Since and Until must not begin with ~",
		"node k: a source, a function of one, or a node that it waits for is nil",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the problems do not say %q", want)
		}
	}
	func() {
		defer func() {
			if _, ok := recover().(*flow.DeclarationError); !ok {
				t.Error("Build does not panic with the problems")
			}
		}()
		f.Build()
	}()
	if t.Failed() {
		t.Log(strings.ReplaceAll(err.Error(), "; ", "\n"))
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "node late is declared after Build") {
			t.Errorf("a declaration that comes late: %q", text)
		}
	}()
	flow.Step(f, "late", f.Input(), pass, nil)
}

// TestTakenAlongBeforeAChange: a node that a parent takes along is skipped for that reason, also if
// a change would skip it by itself, and takes along what depends on it.
func TestTakenAlongBeforeAChange(t *testing.T) {
	f := flow.New[int]("tested", nil)
	no := flow.Options{If: []flow.Condition{flow.When(f.Input(), func(int) bool { return false })}, Unmet: flow.SkipDescendants}
	a := flow.Step(f, "a", f.Input(), pass, &no)
	b := flow.Step(f, "b", f.Input(), pass, &no)
	c := flow.Step(f, "c", f.Input(), pass, &flow.Options{Since: "c"}).After(a, b)
	flow.Step(f, "d", f.Input(), pass, nil).After(c)
	o := playFlow(t, f, 1, nil, nil)
	o.wants(t, "null")
	for _, name := range []string{"c", "d"} {
		if n := o.nodes[name]; n.Status != flow.StatusSkipped || n.Reason != flow.ReasonParent {
			t.Errorf("node %s is %s, %s", name, n.Status, n.Reason)
		}
	}
}
