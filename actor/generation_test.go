package actor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// The engine may fail while a run begins its next generation: the run continues in it all the same.
func TestEngineFailsAtContinue(t *testing.T) {
	bubble(t, func(o *Options) {
		o.Hooks.Retry = func(*journal.Run, string, int32, time.Duration, *journal.Failure) { panic("planted") }
	}, func(g *rig) {
		a, b, commit := newGate(), newGate(), make(chan struct{})
		g.define("again", func(ctx workflow.Context) (string, error) {
			if ctx.Info().Generation == 2 {
				return "second", nil
			}
			workflow.StepAsync(ctx, "a", a.heedful, nil)
			if _, err := workflow.Step(ctx, "b", b.heedful, nil); err != nil {
				return "", err
			}
			return "", workflow.ContinueAsNew(ctx, workflow.Name[int, string]("again"), 1, nil)
		})
		g.store.fate = func(c *driver.Commit) error {
			if c.Continue != nil {
				<-commit
			}
			return nil
		}
		id := g.start("again")
		b.open <- nil
		wait()
		a.open <- errors.New("not yet")
		wait()
		close(commit)
		wait()
		g.wantSaid("blocked", 1)
		g.wake(id)
		g.wantSaid("closed RunCompleted", 1)
		g.wantHistory(id, "RunStarted RunCompleted")
	})
}

// Code that was changed so that it returns where it used to wait ends no run: the run is blocked,
// and goes on with code that waits.
func TestChangedCodeEndsNoRun(t *testing.T) {
	for name, again := range map[string]bool{"returns": false, "continues": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				waits := func(ctx workflow.Context) (string, error) {
					_, err := knock.Receive(ctx)
					return "", err
				}
				g.define("one", waits)
				id := g.start("one")
				pass(2 * time.Minute) // it does not stay warm
				g.define("one", func(ctx workflow.Context) (string, error) {
					if again && ctx.Info().Generation == 1 {
						return "", workflow.ContinueAsNew(ctx, workflow.Name[int, string]("one"), 1, nil)
					}
					return "", nil
				})
				g.claim(id)
				if task := g.task(id); task.State != journal.Blocked || !strings.Contains(task.Problem, "code that waits for more") {
					t.Errorf("the run is %v, %q", task.State, task.Problem)
				}
				g.define("one", waits)
				g.signal(id, "knock", 1)
				g.wake(id)
				g.wantSaid("closed RunCompleted", 1)
			})
		})
	}
}
