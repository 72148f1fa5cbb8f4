package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestRetryOfAFanOut: of steps that were asked for together, those that have completed keep their
// results, also behind the failure of another one. With Again they run again.
func TestRetryOfAFanOut(t *testing.T) {
	const fans workflow.Name[string, []string] = "fans"
	c := clustertest.New(t)
	var mu sync.Mutex
	ran, broken, last := map[string]int{}, true, make(chan struct{})
	client, ctx := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, fans, func(ctx workflow.Context, in string) ([]string, error) {
			futures := make([]workflow.Future[string], 3)
			for i := range futures {
				name := fmt.Sprint("fan", i)
				futures[i] = workflow.StepAsync(ctx, name, func(ctx context.Context) (string, error) {
					mu.Lock()
					ran[name]++
					fails := broken && name == "fan1"
					mu.Unlock()
					if name == "fan2" {
						<-last
					}
					if fails {
						return "", workflow.Permanent(errors.New("broken"))
					}
					return name + in, nil
				}, nil)
			}
			var out []string
			var failed error
			for _, f := range futures {
				got, err := f.Get(ctx)
				if err != nil {
					failed = err
				}
				out = append(out, got)
			}
			return out, failed
		}, nil)
	}).Client(), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, fans, "!", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Until(t, "the second step has failed", func() bool {
		events, err := client.History(ctx, run.ID())
		return err == nil && slices.ContainsFunc(events, func(ev journal.Event) bool { return ev.Kind == journal.StepFailed })
	})
	close(last)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	out, err := client.Retry(ctx, run.ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	carried := map[string]bool{}
	for _, s := range out.Steps {
		carried[s.Name] = s.Carried
	}
	if carried["fan1"] || !carried["fan2"] {
		t.Errorf("steps that keep their results: %v", carried)
	}
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed again")
	}
	mu.Lock()
	if ran["fan0"] != 1 || ran["fan1"] != 2 || ran["fan2"] != 1 {
		t.Errorf("executions: %v", ran)
	}
	broken = false
	mu.Unlock()
	if _, err := client.Retry(ctx, run.ID(), &runtime.RetryOptions{Again: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || !slices.Equal(got, []string{"fan0!", "fan1!", "fan2!"}) {
		t.Errorf("the run ends with %q, %v", got, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if ran["fan0"] != 1 || ran["fan1"] != 3 {
		t.Errorf("executions: %v", ran)
	}
}
