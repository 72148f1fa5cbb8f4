package flow

import (
	"context"
	"testing"
)

// counted is a source that counts how often it is gone through, and taken.
type counted struct{ edged, taken int }

func (c *counted) read(*values) (int, bool, error) { c.taken++; return 1, true, nil }
func (c *counted) edges(*edges)                    { c.edged++ }

// TestManyLevels: a source that is joined with itself is gone through once a level. Few levels come
// first: where many would take for ever they fail.
func TestManyLevels(t *testing.T) {
	for _, levels := range []int{12, 60} {
		var base counted
		sum := Source[int](&base)
		add := func(a, b int) int { return a + b }
		for i := range levels {
			switch sum = Join(sum, sum, add); i % 3 {
			case 0:
				sum = Apply(sum, func(i int) int { return i })
			case 1:
				sum = As[int](sum)
			}
		}
		if edgesOf(sum, false); base.edged != 2 {
			t.Fatalf("%d levels are gone through %d times, want 2, of the first join", levels, base.edged)
		}
		if got, ok, err := valueOf(sum, &values{}); got != 1<<levels || !ok || err != nil || base.taken != 2 {
			t.Fatalf("%d levels come to %d, %t, %v and take their source %d times", levels, got, ok, err, base.taken)
		}
		f := New[int]("f", nil)
		sum = Step(f, "a", f.Input(), func(_ context.Context, i int) (int, error) { return i, nil }, nil)
		for range levels {
			sum = Join(sum, sum, add)
		}
		Step(f, "b", sum, func(_ context.Context, i int) (int, error) { return i, nil }, nil)
		if err := f.Check(); err != nil {
			t.Error(err)
		}
	}
}
