package runtimetest_test

import (
	"strconv"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// What a child is started with is what the options said then, although the code goes on to change
// them.
func TestLabelsOfChildren(t *testing.T) {
	const guest workflow.Name[int, string] = "guest"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, guest, func(ctx workflow.Context, _ int) (string, error) { return ctx.Info().Labels["n"], nil }, nil)
		runtimetest.Handle(e, desk, func(ctx workflow.Context, n int) (int, error) {
			labels := map[string]string{}
			var guests []workflow.Child[string]
			for i := range n {
				labels["n"] = strconv.Itoa(i)
				guests = append(guests, workflow.CallAsync(ctx, guest, i, &workflow.ChildOptions{Labels: labels}))
			}
			right := 0
			for i, g := range guests {
				if got, err := g.Get(ctx); err == nil && got == strconv.Itoa(i) {
					right++
				}
			}
			return right, nil
		}, nil)
		if got := runtimetest.Start(e, desk, 3, nil).Must(); got != 3 {
			t.Errorf("%d of 3 children have their own labels", got)
		}
	})
}
