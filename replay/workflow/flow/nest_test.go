package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// TestNestedOften: flows that are nested twice, a thousand deep, are 2^1000 nodes. They are refused
// by that number and nobody goes through them; what is as deep, or as wide, and small is allowed.
func TestNestedOften(t *testing.T) {
	declare := func(depth, times int) *flow.Flow[int] {
		var inner *flow.Flow[int]
		for i := range depth {
			f := flow.New[int]("tested", nil)
			flow.Step(f, "step", f.Input(), pass, nil)
			for k := range times {
				if inner != nil {
					flow.Nest(f, fmt.Sprintf("nested%d_%d", i, k), f.Input(), inner, nil)
				}
			}
			inner = f
		}
		return inner
	}
	for _, tc := range []struct {
		depth, times int
		want         string
	}{
		{1000, 2, "it has more than 10000 nodes with those of the flows that it nests"},
		{1001, 1, "1001 flows are nested in each other: at most 1000 are possible"},
		{1000, 1, ""},
		{2, 4999, ""}, // a step, and 4999 nodes that are a flow of one
		{2, 5000, "more than 10000 nodes"},
		{12, 2, ""},
	} {
		f := declare(tc.depth, tc.times)
		err := f.Check()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%d times, %d deep: %.300v, want %q", tc.times, tc.depth, err, tc.want)
		}
		if err != nil {
			continue
		}
		depth := 1
		for s := f.Shape(); len(s.Nodes) > 1; s = s.Nodes[0].Nested {
			depth++
		}
		if depth != tc.depth {
			t.Errorf("%d times, %d deep: the shape is %d deep", tc.times, tc.depth, depth)
		}
	}
}
