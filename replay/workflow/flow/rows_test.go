package flow_test

// The tests of this file and of rows_skip_test.go are named after what systems with declared graphs
// do, one row of a comparison each. Where a row has a weakness, the test shows that it is not here.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// Names, and nothing that is ignored in silence: a second node of a name is a problem.
func TestRowFlowDefinition(t *testing.T) {
	for name, want := range map[string]string{
		"ok_1-a": "", "_x": "", "1st": "a name begins with a letter", "a b": "a name begins with a letter", "": "a name begins with a letter",
		strings.Repeat("x", 128): "", strings.Repeat("x", 129): "at most 128",
	} {
		f := flow.New[int]("tested", nil)
		flow.Step(f, name, f.Input(), pass, nil)
		if err := f.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a node called %q: %v, want %q", name, err, want)
		}
	}
	f := flow.New[int]("tested", nil)
	a := flow.Step(f, "a", f.Input(), pass, nil)
	flow.Step(f, "a", f.Input(), pass, nil)
	a.After(a)
	err := f.Check()
	for _, want := range []string{"node a is declared more than once", "a → a"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// A node begins when all that it comes after has ended; there may be several roots, and those that
// begin together begin in the order of their names.
func TestRowDependencies(t *testing.T) {
	o := play(t, 1, func(f *flow.Flow[int]) {
		b := flow.Step(f, "b", f.Input(), pass, nil)
		a := flow.Step(f, "a", f.Input(), pass, nil)
		d := flow.Step(f, "d", flow.All(a, b), give[[]int](2), nil)
		c := flow.Step(f, "c", a, pass, nil)
		flow.Step(f, "e", f.Input(), pass, nil).After(c, d)
	})
	o.wants(t, `{"e":1}`)
	if !strings.HasPrefix(o.history, "1 RunStarted > step a, step b\n") {
		t.Errorf("the roots do not begin in the order of their names:\n%s", o.history)
	}
	ended := map[string]journal.Seq{}
	for i := range o.events {
		e := &o.events[i]
		if e.Kind == journal.StepCompleted {
			ended[e.Name] = e.Seq
		}
		for _, c := range e.Issued {
			for child, parents := range map[string][]string{"c": {"a"}, "d": {"a", "b"}, "e": {"c", "d"}} {
				for _, p := range parents {
					if c.Kind == journal.CommandStep && c.Name == child && ended[p] == 0 {
						t.Errorf("%s begins before %s has ended:\n%s", child, p, o.history)
					}
				}
			}
		}
	}
}

// The output is what the leaves came to; the run ends with the commit of the last step.
func TestRowRunOutput(t *testing.T) {
	o := play(t, 1, func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), pass, nil)
		flow.Step(f, "b", a, give[int]("x"), nil)
		flow.Step(f, "c", a, give[int]([]int{}), nil)
		flow.Step(f, "d", a, pass, &flow.Options{If: []flow.Condition{flow.When(a, func(int) bool { return false })}})
	})
	o.wants(t, `{"b":"x","c":[]}`)
	o = play(t, 1, func(f *flow.Flow[int]) {
		flow.Step(f, "a", f.Input(), pass, &flow.Options{If: []flow.Condition{flow.When(f.Input(), func(int) bool { return false })}})
	})
	o.wants(t, `null`)
	if n := len(o.events); n != 2 {
		t.Errorf("a run without anything to do has %d events:\n%s", n, o.history)
	}
}

// A step's output is stored with its event; a map's is in the order of the items, whichever ends
// first.
func TestRowStepOutputStorage(t *testing.T) {
	o := play(t, []int{4, 3, 2, 1}, func(f *flow.Flow[[]int]) {
		flow.Map(f, "m", f.Input(), func(ctx context.Context, i int) (string, error) {
			if a, _ := workflow.StepInfo(ctx); i == 4 && a.Attempt == 1 {
				return "", errors.New("the first item ends last")
			}
			return fmt.Sprint("item ", i), nil
		}, nil)
	})
	o.wants(t, `{"m":["item 4","item 3","item 2","item 1"]}`)
	last := o.events[len(o.events)-2]
	if last.Name != "m" || string(last.Payload.Data) != `["item 4"]` {
		t.Errorf("the last event is %s %s, want the first item's:\n%s", last.Name, last.Payload.Data, o.history)
	}
}

// Each item is a step with its own retries, or shares one; the function gets the item and nothing
// else.
func TestRowMapStep(t *testing.T) {
	for _, chunk := range []int{1, 3, 100} {
		attempts := map[string]int{}
		o := play(t, []string{"a", "b", "c", "d", "e"}, func(f *flow.Flow[[]string]) {
			m := flow.Map(f, "m", f.Input(), func(ctx context.Context, s string) (string, error) {
				i, ok := flow.Item(ctx)
				attempts[s]++
				if attempts[s] <= i { // the item of index i fails i times
					return "", errors.New("again")
				}
				return fmt.Sprint(s, i, ok), nil
			}, &flow.Options{Chunk: chunk, Window: 1})
			flow.Step(f, "after", m, pass, nil)
		})
		o.wants(t, `{"after":["a0 true","b1 true","c2 true","d3 true","e4 true"]}`)
		if got, want := o.steps("m"), (5+chunk-1)/chunk; got != want {
			t.Errorf("in chunks of %d there are %d steps, want %d", chunk, got, want)
		}
		for i, s := range []string{"a", "b", "c", "d", "e"} {
			if attempts[s] != i+1 {
				t.Errorf("in chunks of %d item %s was tried %d times, want %d: what has been done is not repeated", chunk, s, attempts[s], i+1)
			}
		}
		if n := o.nodes["m"]; n.Steps != (5+chunk-1)/chunk || n.Status != flow.StatusCompleted {
			t.Errorf("the state of the map is %+v", n)
		}
	}
}

// Keys differ from item to item, also where items share a step.
func TestMapKeys(t *testing.T) {
	keys := map[string]int{}
	play(t, []int{0, 1, 2, 3}, func(f *flow.Flow[[]int]) {
		flow.Map(f, "m", f.Input(), func(ctx context.Context, i int) (int, error) {
			keys[flow.IdempotencyKey(ctx)]++
			if keys[flow.IdempotencyKey(ctx)] == 1 && i == 2 {
				return 0, errors.New("again")
			}
			return i, nil
		}, &flow.Options{Chunk: 2, Window: 1})
	})
	if len(keys) != 4 {
		t.Errorf("four items have the keys %v", keys)
	}
	if flow.IdempotencyKey(t.Context()) != "" {
		t.Error("there is a key outside of a step")
	}
}

// A map without items completes at once and so does what follows, in one turn, however long the
// chain is; a step after it runs with the empty list.
func TestRowEmptyArrayCascade(t *testing.T) {
	const length = 1000
	o := play(t, []int{}, func(f *flow.Flow[[]int]) {
		m := flow.Map(f, "m0", f.Input(), pass, nil)
		for i := 1; i < length; i++ {
			m = flow.Map(f, fmt.Sprint("m", i), m, pass, nil)
		}
		flow.Step(f, "single", m, func(_ context.Context, list []int) (string, error) { return fmt.Sprint(list != nil, len(list)), nil }, nil)
	})
	o.wants(t, `{"single":"true 0"}`)
	if n := len(o.events); n != 3 {
		t.Errorf("there are %d events, want the start, the step and the end", n)
	}
	o.stands(t, "m999", "completed")
	if o.steps("m0") != 0 {
		t.Error("a map without items has steps")
	}
}

// Null items are items, and null results keep their place.
func TestRowNullElements(t *testing.T) {
	one := 1
	calls := 0
	o := play(t, []*int{nil, &one, nil}, func(f *flow.Flow[[]*int]) {
		flow.Map(f, "m", f.Input(), func(_ context.Context, i *int) (*int, error) {
			calls++
			return i, nil
		}, &flow.Options{Window: 1})
	})
	o.wants(t, `{"m":[null,1,null]}`)
	if calls != 3 {
		t.Errorf("%d items are worked on, want 3", calls)
	}
}

// A map over the input refuses null before a run is started, and as soon as it has started.
func TestRowRootMapInput(t *testing.T) {
	f := flow.New[[]int]("tested", nil)
	flow.Map(f, "m", f.Input(), pass, nil)
	mistyped := new(flow.TypeError)
	if err := f.CheckInput(nil); !errors.As(err, &mistyped) || mistyped.Got != "null" {
		t.Errorf("a null input: %v", err)
	}
	if err := f.CheckInput([]int{}); err != nil {
		t.Errorf("an empty input: %v", err)
	}
	o := playFlow(t, f, nil, nil, nil)
	o.fails(t, "node m: the input gave null instead of a list")
	g := flow.New[map[string]int]("tested", nil)
	flow.Map(g, "m", flow.As[[]int](g.Input()), pass, nil)
	if err := g.CheckInput(map[string]int{"a": 1}); !errors.As(err, &mistyped) || mistyped.Got != "an object" {
		t.Errorf("an object as input: %v", err)
	}
}

// TestInputOfConditions: what is refused before the start is what would fail the run. A map that
// would be skipped is not looked at, and hides no other.
func TestInputOfConditions(t *testing.T) {
	mistyped := new(flow.TypeError)
	f := flow.New[[]int]("tested", nil)
	never := ifs(flow.When(f.Input(), func([]int) bool { return false }))
	flow.Map(f, "a", f.Input(), pass, &flow.Options{Until: "no a"})
	flow.Map(f, "b", f.Input(), pass, never)
	if err := f.CheckInput(nil); err != nil {
		t.Errorf("maps that would be skipped: %v", err)
	}
	playFlow(t, f, nil, nil, nil).wants(t, "null")

	f = flow.New[[]int]("tested", nil)
	flow.Map(f, "a", f.Input(), pass, never)
	flow.Map(f, "b", f.Input(), pass, nil)
	if err := f.CheckInput(nil); !errors.As(err, &mistyped) {
		t.Errorf("a map that would run, beside one that would not: %v", err)
	}
	playFlow(t, f, nil, nil, nil).fails(t, "node b: the input gave null instead of a list")

	f = flow.New[[]int]("tested", nil)
	flow.Map(f, "a", f.Input(), pass, ifs(flow.When(flow.As[map[string]int](f.Input()), func(map[string]int) bool { return true })))
	failed := new(flow.NodeError)
	if err := f.CheckInput([]int{1}); !errors.As(err, &failed) || failed.Node != "a" || !errors.As(err, &mistyped) {
		t.Errorf("a condition that cannot read the input: %v", err)
	}
}

// A value of the wrong kind fails the run, whatever the modes say, without another attempt; the
// value is kept, and what else runs is cancelled.
func TestRowTypeViolation(t *testing.T) {
	for _, tc := range []struct {
		output any
		want   string
	}{
		{map[string]int{"a": 1}, `node list gave an object instead of a list: {"a":1}`},
		{nil, "node list gave null instead of a list"},
		{"x", `node list gave a string instead of a list: "x"`},
	} {
		calls := 0
		o := play(t, 1, func(f *flow.Flow[int]) {
			list := flow.Step(f, "list", f.Input(), func(context.Context, int) (any, error) {
				calls++
				return tc.output, nil
			}, nil)
			flow.Sleep(f, "aside", 1<<40, nil)
			flow.Map(f, "m", flow.As[[]int](list), pass, &flow.Options{Exhausted: flow.Skip})
		})
		o.fails(t, "node m: "+tc.want)
		mistyped, failed := new(flow.TypeError), new(flow.NodeError)
		if !errors.As(o.err, &mistyped) || !errors.As(o.err, &failed) || failed.Node != "m" || mistyped.From != "node list" || mistyped.Output != asJSON(tc.output) {
			t.Errorf("the error has lost its details: %+v, %+v", mistyped, failed)
		}
		if calls != 1 {
			t.Errorf("the step was tried %d times", calls)
		}
		o.stands(t, "list", "completed")
		o.stands(t, "m", "failed")
		o.stands(t, "aside", "cancelled")
	}
}

// It is the same for a node that begins: what it is given is not what it takes.
func TestTypeViolationOfAStep(t *testing.T) {
	o := play(t, 1, func(f *flow.Flow[int]) {
		text := flow.Step(f, "text", f.Input(), give[int, any]("x"), nil)
		flow.Step(f, "number", flow.As[int](text), pass, &flow.Options{Exhausted: flow.Skip})
	})
	o.fails(t, `node number: node text gave a string instead of a value of type int: "x"`)
}

// What a step comes to after its node or its flow has ended changes nothing.
func TestRowLateCompletion(t *testing.T) {
	o := play(t, []int{0, 1}, func(f *flow.Flow[[]int]) {
		m := flow.Map(f, "m", f.Input(), func(ctx context.Context, i int) (int, error) {
			if i == 0 {
				return 0, workflow.Permanent(errBroken)
			}
			<-ctx.Done() // and completes all the same
			return 1, nil
		}, &flow.Options{Exhausted: flow.Skip})
		flow.Step(f, "after", flow.Maybe(m), pass, nil)
	})
	o.wants(t, `{"after":{"Value":null,"OK":false}}`)
	o.stands(t, "m", "skipped, handler_failed")
}

// Several nodes after one, conditions that exclude each other, and nodes that wait for all or for
// some of several.
func TestRowBranchAndJoin(t *testing.T) {
	declare := func(f *flow.Flow[int]) {
		in := f.Input()
		small := func(i int) bool { return i < 10 }
		low := flow.Step(f, "low", in, give[int]("low"), &flow.Options{If: []flow.Condition{flow.When(in, small)}})
		high := flow.Step(f, "high", in, give[int]("high"), &flow.Options{If: []flow.Condition{flow.Not(flow.When(in, small))}})
		flow.Step(f, "join", flow.Gather(low, high), pass, nil)
	}
	play(t, 5, declare).wants(t, `{"join":{"low":"low"}}`)
	play(t, 50, declare).wants(t, `{"join":{"high":"high"}}`)

	o := play(t, 0, func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), give[int]("a"), nil)
		b := flow.Step(f, "b", f.Input(), give[int]("b"), nil)
		c := flow.Sleep(f, "c", 1<<40, nil)
		flow.Step(f, "two", flow.Gather(a, b, c), pass, &flow.Options{Quorum: 2})
	})
	o.wants(t, `{"two":{"a":"a","b":"b"}}`)
	if n := o.nodes; n["c"].Ended.Sub(n["two"].Ended) <= 0 || n["two"].Status != flow.StatusCompleted {
		t.Errorf("the quorum did not go ahead: %+v", n["two"])
	}
}

// A loop over items is a map, which keeps each item.
func TestRowEachLoop(t *testing.T) {
	o := play(t, []int{1, 2, 3}, func(f *flow.Flow[[]int]) {
		flow.Map(f, "each", f.Input(), func(_ context.Context, i int) (int, error) { return i * i, nil }, &flow.Options{Window: 1})
	})
	o.wants(t, `{"each":[1,4,9]}`)
	if o.steps("each") != 3 {
		t.Errorf("the loop has %d steps, want one an item", o.steps("each"))
	}
}

// What is made of values is Go: the whole keeps its type, parts can be mixed, and mistakes do not
// compile, see TestCompile.
func TestRowExpressions(t *testing.T) {
	type user struct {
		Name string
		Age  int
	}
	o := play(t, user{"Ann", 30}, func(f *flow.Flow[user]) {
		flow.Step(f, "age", flow.Apply(f.Input(), func(u user) int { return u.Age }), pass, nil)
		flow.Step(f, "text", flow.Apply(f.Input(), func(u user) string { return fmt.Sprintf("%s is %d", u.Name, u.Age) }), pass, nil)
	})
	o.wants(t, `{"age":30,"text":"Ann is 30"}`)
}

// Steps that are known only when the run has come to them are a map over them, or workflow code.
func TestRowDynamicSteps(t *testing.T) {
	o := play(t, 3, func(f *flow.Flow[int]) {
		plan := flow.Step(f, "plan", f.Input(), func(_ context.Context, n int) ([]string, error) {
			return []string{"fetch", "check", "store"}[:n], nil
		}, nil)
		flow.Code(f, "work", plan, func(ctx workflow.Context, names []string) (done []string, err error) {
			for _, name := range names {
				v, err := workflow.Step(ctx, name, func(context.Context) (string, error) { return name + "ed", nil }, nil)
				if err != nil {
					return nil, err
				}
				done = append(done, v)
			}
			return done, nil
		}, nil)
	})
	o.wants(t, `{"work":["fetched","checked","storeed"]}`)
	if got := strings.Join(o.state.Beside, " "); got != "fetch check store" {
		t.Errorf("steps beside the nodes: %q", got)
	}
}
