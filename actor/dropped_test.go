package actor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// The transaction of a step that nobody waits for any more is rolled back, also when the run's
// actor is gone by then.
func TestTxOfDroppedStep(t *testing.T) {
	for _, mode := range []workflow.CancelMode{workflow.TryCancel, workflow.Abandon} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				late := newGate()
				g.define("leaves", func(ctx workflow.Context) (string, error) {
					inner, cancel := workflow.WithCancel(ctx)
					workflow.StepTxAsync(inner, "late", enter(late), &workflow.StepOptions{OnCancel: mode})
					if _, err := knock.Receive(ctx); err != nil {
						return "", err
					}
					cancel()
					_, err := knock.Receive(ctx)
					return "", err
				})
				id := g.start("leaves")
				<-late.began
				g.signal(id, "knock", 1)
				g.sys.Kill(ErrRunLost)
				late.open <- nil
				wait()
				g.wantTxs("rolled back")
			})
		})
	}
}

// An abandoned step that waits for its next attempt gets none, whether its run stays in memory or
// not.
func TestAbandonedStepInRetry(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		attempts := 0
		g.define("leaves", func(ctx workflow.Context) (string, error) {
			inner, cancel := workflow.WithCancel(ctx)
			workflow.StepAsync(inner, "a", func(context.Context) (string, error) {
				attempts++
				return "", errors.New("not yet")
			}, &workflow.StepOptions{OnCancel: workflow.Abandon, Retry: &workflow.RetryPolicy{Initial: 20 * time.Second, Jitter: -1}})
			if _, err := knock.Receive(ctx); err != nil {
				return "", err
			}
			cancel()
			_, err := knock.Receive(ctx)
			return "", err
		})
		id := g.start("leaves")
		pass(time.Second)
		g.signal(id, "knock", 1)
		g.claim(id)
		if at := g.task(id).VisibleAt; !at.IsZero() {
			t.Errorf("the run will be looked at in %s", time.Until(at))
		}
		if list := g.task(id).Attempts; len(list) > 0 {
			t.Errorf("attempts of a step that is gone: %v", list)
		}
		pass(30 * time.Second)
		g.claim(id)
		if attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}
		g.signal(id, "knock", 2)
		g.claim(id)
		g.wantSaid("closed RunCompleted", 1)
	})
}

// A context with a limit does not outlive its attempt.
func TestAttemptLeavesNoContext(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Minute} {
		a := &attempt{options: &replay.StepOptions{Attempt: limit}}
		a.ctx, a.cancel = context.WithCancelCause(t.Context())
		ctx := a.limit()
		a.release()
		if a.ctx.Err() == nil || ctx.Err() == nil {
			t.Errorf("limit %s: the attempt's context is open", limit)
		}
	}
}
