package flow_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// TestJoinedWithItself: what is made of one source twice, and that again, is gone through and made
// once a level, not once for each of the ways to it. Few levels come first, so that the test fails
// where many would take for ever.
func TestJoinedWithItself(t *testing.T) {
	broken := flow.New[int]("broken", nil)
	var nothing flow.Source[int]
	for range 12 {
		nothing = flow.Join(nothing, nothing, func(a, b int) int { return a + b })
	}
	flow.Step(broken, "a", nothing, pass, nil)
	err := new(flow.DeclarationError)
	if !errors.As(broken.Check(), &err) || len(err.Problems) != 1 {
		t.Fatalf("a source of nothing has the problems %v, want one", err.Problems)
	}
	for _, levels := range []int{12, 60} {
		most, calls, made := 0, 0, 0
		begin := func() { most, calls = max(most, calls), 0 }
		o := play(t, 1, func(f *flow.Flow[int]) {
			a := flow.Step(f, "a", f.Input(), pass, nil)
			sum := flow.Apply(a, func(i int) int { begin(); made = i; return i })
			for range levels {
				sum = flow.Join(sum, sum, func(a, b int) int { calls++; return a + b })
			}
			flow.Step(f, "b", sum, pass, ifs(flow.When(sum, func(i int) bool { return i>>levels == made })))
		})
		begin()
		if most != levels {
			t.Fatalf("%d levels are made by %d calls", levels, most)
		}
		o.wants(t, fmt.Sprintf(`{"b":%d}`, 1<<levels))
	}
}
