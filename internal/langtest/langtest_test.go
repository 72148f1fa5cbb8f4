package langtest

import (
	"go/ast"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReached: what is not reached from the chosen calls does not count, nor what only has a verb's
// name, such as the methods of a sync.Mutex.
func TestReached(t *testing.T) {
	l := Load(t, "../../replay/workflow")
	file := l.parse("some_test.go", `package some_test
		import ("sync"; "testing"; "github.com/reprise-run/reprise/replay/workflow"; "github.com/reprise-run/reprise/runtime/runtimetest")
		func TestCrashes(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, "", func(ctx workflow.Context, _ int) (int, error) {
					var mu sync.Mutex
					mu.Lock()
					defer workflow.NewSemaphore(1, "").Release(1)
					_, _ = workflow.Map(ctx, []int{1}, below, &workflow.MapOptions{Limit: 1})
					return below(ctx, 0)
				}, nil)
			})
			runtimetest.Test(t, func(e *runtimetest.Env) { runtimetest.Handle(e, "", apart, nil) })
		}
		func below(ctx workflow.Context, _ int) (int, error) { return 0, workflow.Sleep(ctx, 1) }
		func apart(ctx workflow.Context, _ int) (int, error) { return 0, workflow.Await(ctx, nil) }`)
	c := l.check("some_test", []*ast.File{file})
	want := map[string]bool{"Map": true, "MapOptions.Limit": true, "NewSemaphore": true, "Semaphore.Release": true, "Sleep": true}
	if diff := cmp.Diff(want, c.Reached(CallOf("EveryCrash"))); diff != "" {
		t.Errorf("reached (-want +got)\n%s", diff)
	}
	want["Await"] = true
	if diff := cmp.Diff(want, c.Used(func(string) bool { return true })); diff != "" {
		t.Errorf("used (-want +got)\n%s", diff)
	}
}

// TestCheck: something that is not used, and excuses that are not needed, are told.
func TestCheck(t *testing.T) {
	fake := &told{TB: t}
	l := &Language{t: fake}
	l.Check("tests", []string{"A", "B", "C"}, map[string]bool{"A": true, "B": true}, map[string]string{"B": "why", "D": "why"})
	if fake.errors != 3 {
		t.Errorf("%d errors, want those of B, C and D", fake.errors)
	}
}

// told counts errors instead of failing.
type told struct {
	testing.TB
	errors int
}

func (t *told) Errorf(string, ...any) { t.errors++ }
func (t *told) Helper()               {}
