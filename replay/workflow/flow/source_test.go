package flow_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// TestJoinedWithItself: what is made of one source twice, and that again, is made once a level each
// time when a node takes it, and what is wrong with it is said once. TestManyLevels has more of
// them.
func TestJoinedWithItself(t *testing.T) {
	const levels = 12
	broken := flow.New[int]("broken", nil)
	var nothing flow.Source[int]
	for range levels {
		nothing = flow.Join(nothing, nothing, func(a, b int) int { return a + b })
	}
	flow.Step(broken, "a", nothing, pass, nil)
	err := new(flow.DeclarationError)
	if !errors.As(broken.Check(), &err) || len(err.Problems) != 1 {
		t.Errorf("a source of nothing has the problems %v, want one", err.Problems)
	}
	takes, calls := 0, 0
	o := play(t, 1, func(f *flow.Flow[int]) {
		a := flow.Step(f, "a", f.Input(), pass, nil)
		sum := flow.Apply(a, func(i int) int { takes++; return i })
		for range levels {
			sum = flow.Join(sum, sum, func(a, b int) int { calls++; return a + b })
		}
		flow.Step(f, "b", sum, pass, ifs(flow.When(sum, func(i int) bool { return i == 1<<levels })))
	})
	o.wants(t, fmt.Sprintf(`{"b":%d}`, 1<<levels))
	if takes < 2 || calls != takes*levels { // a condition takes it and a step, and both again on replay
		t.Errorf("%d levels that are taken %d times are made by %d calls", levels, takes, calls)
	}
}
