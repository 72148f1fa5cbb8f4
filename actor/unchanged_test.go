package actor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// While a body is executed, nothing that falls due waits for its end: neither the next attempt of
// another step nor a timer.
func TestDueWhileABodyRuns(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s, tries := newGate(), 0
		g.define("two", func(ctx workflow.Context) (string, error) {
			a := workflow.StepAsync(ctx, "a", s.heedful, nil)
			b := workflow.StepAsync(ctx, "b", func(context.Context) (string, error) {
				if tries++; tries < 3 {
					return "", errors.New("not yet")
				}
				return "done", nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}})
			if err := workflow.Sleep(ctx, time.Minute); err != nil {
				return "", err
			}
			if _, err := b.Get(ctx); err != nil {
				return "", err
			}
			return a.Get(ctx)
		})
		id := g.start("two")
		pass(10 * time.Second)
		g.wantHistory(id, "RunStarted StepCompleted(b)")
		pass(time.Minute)
		g.wantHistory(id, "RunStarted StepCompleted(b) TimerFired")
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(b) TimerFired StepCompleted(a) RunCompleted")
	})
}

// A history that is too long is reported at once, also while a body is executed.
func TestHistoryMaxWhileABodyRuns(t *testing.T) {
	bubble(t, func(o *Options) { o.HistoryMax = 2 }, func(g *rig) {
		s := newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			a := workflow.StepAsync(ctx, "a", s.heedful, nil)
			if _, err := workflow.Step(ctx, "b", func(context.Context) (string, error) { return "", nil }, nil); err != nil {
				return "", err
			}
			return a.Get(ctx)
		})
		g.start("two")
		pass(time.Second)
		g.wantSaid("the history has 2 events, the limit is 2", 1)
	})
}
