package actor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// freeze pauses a run and freezes its timers; a live owner hears of it.
func (g *rig) freeze(id journal.RunID) {
	g.t.Helper()
	g.store.mu.Lock()
	r := g.store.runs[id]
	f, _, err := driver.Frozen(r.run.Freezes, true, false, r.task, g.store.Now())
	if err != nil {
		g.t.Error(err)
	}
	r.run.Freezes, r.task.State = f, driver.PausedBy(driver.AdminPause, r.task)
	g.store.mu.Unlock()
	g.sys.Attend(id)
	wait()
	if t := g.task(id); t.State != journal.Paused {
		g.t.Errorf("the task is %+v", t)
	}
}

// thaw resumes a run whose timers are frozen, and nobody tells its owner.
func (g *rig) thaw(id journal.RunID) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	r := g.store.runs[id]
	r.run.Freezes, r.task.State = driver.Thaw(r.run.Freezes, r.task, g.store.Now()), journal.Ready
}

// defineTimer is a workflow with a timer of ten seconds beside two steps.
func (g *rig) defineTimer(a, b *gate) {
	g.define("timer", func(ctx workflow.Context) (string, error) {
		f, h := workflow.StepAsync(ctx, "a", a.stubborn, nil), workflow.StepAsync(ctx, "b", b.stubborn, nil)
		if err := workflow.NewNamedTimer(ctx, "t", 10*time.Second).Get(ctx); err != nil {
			return "", err
		}
		_, err := f.Get(ctx)
		_, err2 := h.Get(ctx)
		return "", errors.Join(err, err2)
	})
}

func (g *rig) wantVisibleIn(id journal.RunID, want time.Duration) {
	g.t.Helper()
	if task := g.task(id); task == nil || task.Owner != 0 || task.VisibleAt.Sub(g.store.Now()) != want {
		g.t.Fatalf("the task is %+v at %s, want it parked for %s", task, g.store.Now(), want)
	}
}

// A parked run whose timer stood still waits for the rest of its time, warm or not. It replays for
// that, because the machine that it had knows nothing of it. Two freezes add up.
func TestFreezeOfAParkedRun(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("sleep", func(ctx workflow.Context) (string, error) { return "", workflow.Sleep(ctx, 10*time.Second) })
		id := g.start("sleep")
		wait()
		for _, left := range []time.Duration{6 * time.Second, 2 * time.Second} {
			pass(4 * time.Second)
			g.freeze(id)
			pass(20 * time.Second) // it stays warm
			g.thaw(id)
			g.claim(id)
			g.wantVisibleIn(id, left)
			g.wantHistory(id, "RunStarted")
		}
		g.wantSaid("replayed", 2)
		g.freeze(id)
		pass(24 * time.Hour) // it does not
		g.thaw(id)
		g.claim(id)
		g.wantVisibleIn(id, 2*time.Second)
		pass(2*time.Second - time.Millisecond)
		g.claim(id)
		g.wantHistory(id, "RunStarted")
		g.wake(id)
		if got := g.history(id); !strings.HasPrefix(got, "RunStarted TimerFired") || !strings.HasSuffix(got, "RunCompleted") {
			t.Errorf("history is %s", got)
		}
	})
}

// A timer that was due when the run was paused is due when it is resumed.
func TestFreezeOfADueTimer(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("sleep", func(ctx workflow.Context) (string, error) { return "", workflow.Sleep(ctx, 10*time.Second) })
		id := g.start("sleep")
		pass(11 * time.Second)
		g.freeze(id)
		pass(time.Hour)
		g.thaw(id)
		g.claim(id)
		if got := g.history(id); !strings.HasSuffix(got, "RunCompleted") {
			t.Errorf("history is %s", got)
		}
	})
}

// A run that keeps its task while steps are executed hears of the resume from the store, by a load
// or by a commit's outcome. The steps go on, and the timer waits for the rest of its time.
func TestFreezeOfALiveRun(t *testing.T) {
	for name, told := range map[string]bool{"by a load": true, "by a commit": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				a, b := newGate(), newGate()
				g.defineTimer(a, b)
				id := g.start("timer")
				pass(4 * time.Second)
				g.freeze(id)
				g.wantHeld(id, testNode)
				pass(time.Hour)
				g.wantHistory(id, "RunStarted")
				g.thaw(id)
				want := "RunStarted"
				if told {
					g.sys.Attend(id)
				} else {
					a.open <- nil
					want = "RunStarted StepCompleted(a)"
				}
				pass(6*time.Second - time.Millisecond)
				g.wantHistory(id, want)
				pass(time.Millisecond)
				g.wantHistory(id, want+" TimerFired(t)")
				if told {
					a.open <- nil
				}
				b.open <- nil
				wait()
				g.wantBegun("a, which nothing has interrupted", a, 1)
				g.wantBegun("b, which nothing has interrupted", b, 1)
				if got := g.history(id); !strings.HasSuffix(got, "RunCompleted") {
					t.Errorf("history is %s", got)
				}
			})
		})
	}
}

// A run that has heard of its resume by a commit has a full turn to take, before it can load. It
// fires no timer in it, as it does not know yet which stood still.
func TestFreezeIsKnownBeforeTimersFire(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 2 * turnEventsMax }, func(g *rig) {
		first, others := make(chan struct{}), make(chan struct{})
		body := func(end chan struct{}) func(context.Context) (string, error) {
			return func(context.Context) (string, error) { <-end; return "", nil }
		}
		g.define("many", func(ctx workflow.Context) (string, error) {
			all := []workflow.Future[string]{workflow.StepAsync(ctx, "a", body(first), nil)}
			for i := range turnEventsMax + 1 {
				all = append(all, workflow.StepAsync(ctx, fmt.Sprint("b", i), body(others), nil))
			}
			if err := workflow.NewNamedTimer(ctx, "t", 10*time.Second).Get(ctx); err != nil {
				return "", err
			}
			for _, f := range all {
				if _, err := f.Get(ctx); err != nil {
					return "", err
				}
			}
			return "", nil
		})
		id := g.start("many")
		pass(4 * time.Second)
		g.freeze(id)
		pass(time.Hour)
		blocked := make(chan struct{})
		g.store.mu.Lock()
		g.store.fate = func(*driver.Commit) error { <-blocked; return nil }
		g.store.mu.Unlock()
		close(first)
		wait() // its outcome is being committed
		close(others)
		wait()
		g.thaw(id)
		g.store.mu.Lock()
		g.store.fate = nil
		g.store.mu.Unlock()
		close(blocked)
		wait()
		g.wantVisibleIn(id, 6*time.Second)
		if got := g.history(id); strings.Contains(got, "TimerFired") || strings.Count(got, "StepCompleted") != turnEventsMax+2 {
			t.Errorf("history is %s", got)
		}
		g.wake(id)
		if got := g.history(id); !strings.HasSuffix(got, "TimerFired(t) RunCompleted") {
			t.Errorf("history is %s", got)
		}
	})
}

// Code that runs while its run is paused, because a step has ended, arms timers that wait for their
// whole time after the resume. One that is armed after it is not put off.
func TestFreezeAndTimersThatAreArmedInIt(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("after", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "a", a.stubborn, nil); err != nil {
				return "", err
			}
			for range 2 {
				if err := workflow.Sleep(ctx, 10*time.Second); err != nil {
					return "", err
				}
			}
			return "", nil
		})
		id := g.start("after")
		g.freeze(id)
		pass(time.Minute)
		a.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a)")
		pass(time.Hour)
		g.thaw(id)
		g.claim(id)
		g.wantVisibleIn(id, 10*time.Second)
		g.wake(id)
		if task := g.task(id); task == nil || task.VisibleAt.Sub(g.store.Now()) != 10*time.Second {
			t.Errorf("the second one: %+v", task)
		}
	})
}

// The time of the run stands still with its timers, over its generations.
func TestFreezeOfTheRunsTime(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("long", func(ctx workflow.Context) (string, error) { return "", workflow.Sleep(ctx, time.Hour) })
		id := g.create("long")
		g.store.mu.Lock()
		g.store.runs[id].run.Timeout = 10 * time.Second
		g.store.mu.Unlock()
		g.sys.Activate(g.claimed(id))
		pass(4 * time.Second)
		g.freeze(id)
		pass(24 * time.Hour)
		g.thaw(id)
		g.claim(id)
		g.wantVisibleIn(id, 6*time.Second)
		g.wake(id)
		if got := g.history(id); !strings.Contains(got, "CancelRequested") {
			t.Errorf("history is %s", got)
		}
	})
}

// The time of a step stands still between two attempts: it is tried again after the resume, as long
// as it had time left at the pause.
func TestFreezeOfAStepsTime(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var attempts int
		g.define("step", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(context.Context) (string, error) { attempts++; return "", errors.New("down") },
				&workflow.StepOptions{Timeout: 10 * time.Second, Retry: &workflow.RetryPolicy{Initial: 3 * time.Second, Factor: 1, Jitter: -1}})
		})
		id := g.start("step")
		pass(4 * time.Second)
		g.freeze(id)
		pass(time.Hour)
		g.thaw(id)
		g.claim(id)
		g.wantVisibleIn(id, 3*time.Second) // it has failed at 0 and now, with six seconds left
		g.wake(id)
		if got := g.history(id); attempts != 3 || !strings.HasSuffix(got, "StepFailed(a) RunFailed") {
			t.Errorf("%d attempts, history %s", attempts, got)
		}
	})
}
