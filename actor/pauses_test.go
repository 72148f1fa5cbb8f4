package actor

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// twoPaused is the scope of the workflow of rig.twoSteps.
func twoPaused(interrupts bool) []journal.Pause {
	return []journal.Pause{{Scope: journal.Scope{Queue: "elsewhere"}}, {Scope: journal.Scope{Workflow: "two"}, Interrupts: interrupts}}
}

// wantFree expects a run to be parked as one that is due.
func (g *rig) wantFree(id journal.RunID) {
	g.t.Helper()
	wait()
	if task := g.task(id); task == nil || task.State != journal.Ready || task.Owner != 0 || task.VisibleAt.IsZero() || task.VisibleAt.After(g.store.Now()) {
		g.t.Errorf("the task is %+v, want it free and due", task)
	}
}

// J11: when a scope is paused, attempts of its runs end, and what code asks for then does not
// start. The run is free then, and whoever claims it holds it too, until the pause is over.
func TestPausedScope(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.twoSteps(a, b)
		g.define("other", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "c", a.stubborn, nil) })
		id := g.start("two")
		g.wantBegun("a", a, 1)
		g.sys.Pause(twoPaused(false))
		pass(time.Hour)
		a.open <- nil
		g.wantFree(id)
		g.wantHistory(id, "RunStarted StepCompleted(a)")
		g.claim(id)
		g.wantFree(id)
		late := g.start("two")
		g.wantFree(late)
		g.wantBegun("a of a run that has come later", a, 0)
		g.wantBegun("b", b, 0)
		a.open <- nil
		other := g.start("other")
		wait()
		g.wantHistory(other, "RunStarted StepCompleted(c) RunCompleted")
		a.begun()
		g.sys.Pause(nil)
		wait()
		g.wantBegun("b, before a claim", b, 0)
		b.open <- nil
		g.claim(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
		a.open <- nil
		b.open <- nil
		g.claim(late)
		wait()
		g.wantHistory(late, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// A run that still executes a step holds its timers, messages and retries, and goes on when the
// pause of its scope is over, also if it was paused itself meanwhile and is not any more.
func TestScopeIsResumedWhileOwned(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b, c := newGate(), newGate(), newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			f := workflow.StepAsync(ctx, "a", a.stubborn, nil)
			h := workflow.StepAsync(ctx, "c", c.stubborn, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}})
			_ = workflow.Sleep(ctx, time.Minute)
			_, _ = workflow.Signal[int]("s").Receive(ctx)
			_, err := workflow.Step(ctx, "b", b.stubborn, nil)
			return "", errors.Join(err, awaited(ctx, f), awaited(ctx, h))
		})
		id := g.start("two")
		g.wantBegun("c", c, 1)
		g.sys.Pause(twoPaused(false))
		c.open <- errors.New("once more")
		g.signal(id, "s", 1)
		pass(time.Hour)
		g.wantHistory(id, "RunStarted")
		g.wantBegun("c in a paused scope", c, 0)
		g.pause(id, driver.AdminPause)
		g.wantHeld(id, testNode)
		g.sys.Pause(nil)
		pass(time.Hour)
		g.wantHistory(id, "RunStarted")
		g.sys.Pause(twoPaused(false))
		g.resume(id)
		pass(time.Hour)
		g.wantHistory(id, "RunStarted")
		g.sys.Pause(nil)
		g.wantBegun("c", c, 1)
		g.wantBegun("b", b, 1)
		g.wantHistory(id, "RunStarted SignalReceived(s) TimerFired")
		for _, s := range []*gate{a, b, c} {
			s.open <- nil
		}
		wait()
		if g.task(id) != nil {
			t.Errorf("history is %s", g.history(id))
		}
	})
}

// A pause that interrupts ends the contexts of attempts, which do not count, and one that does not
// may be followed by one that does.
func TestPausedScopeInterrupts(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var causes atomic.Int32
		done := false
		g.define("two", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(ctx context.Context) (string, error) {
				if done {
					return "done", nil
				}
				<-ctx.Done()
				if errors.Is(context.Cause(ctx), ErrPaused) {
					causes.Add(1)
				}
				return "", ctx.Err()
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
		})
		id := g.start("two")
		g.sys.Pause(twoPaused(false))
		pass(time.Hour)
		if causes.Load() != 0 {
			t.Error("it was interrupted")
		}
		g.sys.Pause(twoPaused(true))
		g.wantFree(id)
		if causes.Load() != 1 {
			t.Errorf("interrupted %d times", causes.Load())
		}
		done = true
		g.sys.Pause(nil)
		g.claim(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
	})
}

// J11: what waits for a slot when Pause returns does not begin, before any actor has heard of it.
func TestPausedScopeIsAGate(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("first", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", a.stubborn, nil) })
		g.twoSteps(b, b)
		first := g.start("first")
		g.wantBegun("a", a, 1)
		id := g.start("two")               // waits for the slot
		g.sys.pauses.set(twoPaused(false)) // the message is on its way
		a.open <- nil
		wait()
		g.wantHistory(first, "RunStarted StepCompleted(a) RunCompleted")
		g.wantBegun("b", b, 0)
		g.wantFree(id)
		g.sys.Pause(nil)
		b.open <- nil
		b.open <- nil
		g.claim(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}
