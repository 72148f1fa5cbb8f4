package runtimetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// Runs that kill their process again and again are quarantined, one and two of them, after as many
// deaths as it takes to try them. A run beside them that executes one step of an hour, which
// commits nothing meanwhile, is not, and goes on.
func TestPoisonIsFoundAndItsNeighbourGoesOn(t *testing.T) {
	const (
		poison    workflow.Name[string, string] = "poison"
		bystander workflow.Name[string, string] = "bystander"
	)
	for poisons := 1; poisons <= 2; poisons++ {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			hour := func(ctx context.Context) (string, error) {
				select {
				case <-time.After(time.Hour):
					return "done", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			runtimetest.Handle(e, bystander, func(ctx workflow.Context, _ string) (string, error) { return workflow.Step(ctx, "long", hour, nil) }, nil)
			runtimetest.Handle(e, poison, func(ctx workflow.Context, _ string) (string, error) { return workflow.Step(ctx, "die", hour, nil) }, nil)
			var bad []journal.RunID
			for range poisons {
				bad = append(bad, runtimetest.Start(e, poison, "", nil).ID())
			}
			good := runtimetest.Start(e, bystander, "", nil)
			state := func(id journal.RunID) journal.TaskState {
				d, err := e.Client().Describe(context.Background(), id)
				if err != nil {
					e.Fatal(err)
				}
				if d.Run.Task == nil {
					return journal.Ready
				}
				return d.Run.Task.State
			}
			quarantined := func() (n int) {
				for _, id := range bad {
					if state(id) == journal.Quarantined {
						n++
					}
				}
				return n
			}
			deaths, begun := 0, 0
			for tries := 0; quarantined() < poisons; tries++ {
				if tries > 600 {
					e.Fatalf("no poison is tried again; %d of %d are quarantined after %d deaths", quarantined(), poisons, deaths)
				}
				e.Sleep(time.Second)
				if len(e.Calls("die")) > begun {
					e.Sleep(300 * time.Millisecond)
					begun, tries = len(e.Calls("die")), 0
					e.Crash() // what the poisonous step does
					deaths++
				}
			}
			most := driver.SuspectStrikes + poisons*(driver.QuarantineStrikes-driver.SuspectStrikes)
			if deaths > most+2 {
				e.Errorf("%d poisons are quarantined after %d deaths, want at most %d", poisons, deaths, most+2)
			}
			if state(good.ID()) == journal.Quarantined {
				e.Errorf("the run beside %d poisons is quarantined", poisons)
			}
			if out, err := good.Result(); out != "done" || err != nil {
				e.Errorf("the run beside %d poisons ends with %q, %v", poisons, out, err)
			}
			for _, id := range bad {
				if err := e.Client().Terminate(context.Background(), id, "poison"); err != nil {
					e.Error(err)
				}
			}
		})
	}
}
