package actor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// pausing are options of a step that is tried so often before it pauses its run.
func pausing(attempts int) *workflow.StepOptions {
	return &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1, Attempts: attempts}, OnExhausted: workflow.PauseRun}
}

// awaited waits for a step and returns its error alone.
func awaited(ctx workflow.Context, f workflow.Future[string]) error {
	_, err := f.Get(ctx)
	return err
}

// toPause lets time pass until the run is on hold, and returns the reason that the store was given.
func (g *rig) toPause(id journal.RunID) (why string) {
	g.t.Helper()
	for range 20 {
		wait()
		switch task := g.task(id); {
		case task == nil:
			g.t.Fatalf("the run has ended: %s", g.history(id))
		case task.State == journal.Paused && task.Owner == 0:
			for _, c := range g.store.written() {
				if c.Pause != "" {
					why = c.Pause
				}
			}
			return why
		case task.Owner == 0:
			g.wake(id)
		default:
			pass(time.Second)
		}
	}
	g.t.Fatalf("the run is not paused: %+v", g.task(id))
	return ""
}

// A step that may not be tried again pauses its run, whatever has ended its attempts, and the code
// goes on waiting for it. Each resume gives it a new set of attempts, whoever owns the run then.
func TestExhaustedStepPausesTheRun(t *testing.T) {
	down := errors.New("down")
	for name, tc := range map[string]struct {
		o    workflow.StepOptions
		body func(ctx context.Context) error
		tx   bool
		made int32
		why  string
	}{
		"attempts": {*pausing(2), func(context.Context) error { return down }, false, 2, "step a is exhausted after 2 attempts: down"},
		"one":      {*pausing(1), func(context.Context) error { return down }, false, 1, "step a is exhausted after 1 attempt: down"},
		"panics": {workflow.StepOptions{Retry: &workflow.RetryPolicy{Panics: 2}, OnExhausted: workflow.PauseRun},
			func(context.Context) error { panic("oh") }, false, 2, "step a is exhausted after 2 attempts: reprise.Panic: panic: oh"},
		"time": {workflow.StepOptions{Timeout: 3 * time.Second, OnExhausted: workflow.PauseRun},
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, false, 1, "after 1 attempt: reprise.Timeout: "},
		"time between attempts": {workflow.StepOptions{Timeout: 1500 * time.Millisecond, OnExhausted: workflow.PauseRun,
			Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}},
			func(ctx context.Context) error { return down }, false, 2, "after 2 attempts: reprise.Timeout: "},
		"a transaction": {*pausing(2), func(context.Context) error { return down }, true, 2, "step a is exhausted after 2 attempts: down"},
	} {
		for _, passivate := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(o *Options) { o.PassivateAlways = passivate }, func(g *rig) {
					mended, attempts := false, []int{}
					body := func(ctx context.Context) (string, error) {
						info, _ := workflow.StepInfo(ctx)
						if attempts = append(attempts, info.Attempt); mended {
							return "done", nil
						}
						return "", tc.body(ctx)
					}
					g.define("one", func(ctx workflow.Context) (string, error) {
						if err := workflow.Sleep(ctx, time.Second); err != nil {
							return "", err
						}
						if tc.tx {
							return workflow.StepTx(ctx, "a", func(ctx context.Context, _ *memoryTx) (string, error) { return body(ctx) }, &tc.o)
						}
						return workflow.Step(ctx, "a", body, &tc.o)
					})
					id := g.start("one")
					for set := int32(1); set <= 3; set++ {
						if why := g.toPause(id); !strings.Contains(why, strings.ReplaceAll(tc.why, "after 2", "after "+string(rune('0'+2*set)))) && set == 1 {
							t.Errorf("set %d: the run is paused because %q", set, why)
						}
						a := g.task(id).Attempts
						if len(a) != 1 || !a[0].Exhausted || a[0].Made != set*tc.made || a[0].Earlier != (set-1)*tc.made || a[0].Failure == nil {
							t.Fatalf("set %d: attempts %+v", set, a)
						}
						if c := a[0].Failure.Cause; c != nil && c.Type == journal.FailureTimeout {
							t.Errorf("set %d: the failure is about one that is not the step's: %+v", set, a[0].Failure)
						}
						begun := len(attempts)
						pass(time.Hour)
						if len(attempts) != begun || begun != int(set*tc.made) || attempts[begun-1] != begun {
							t.Fatalf("set %d: attempts %v", set, attempts)
						}
						g.wantLive(0)
						mended = set == 3
						g.resume(id)
					}
					wait()
					g.wantHistory(id, "RunStarted TimerFired StepCompleted(a) RunCompleted")
					g.wantSaid("exhausted a", 3)
					g.wantSaid("blocked", 0)
				})
			})
		}
	}
}

// An answer is none of the node's business: a failure for good, and a step that was cancelled, end
// the step.
func TestAnswersPauseNothing(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) {
			scope, cancel := workflow.WithCancel(ctx)
			f := workflow.StepAsync(scope, "a", a.stubborn, pausing(1))
			_ = workflow.Sleep(ctx, time.Minute)
			cancel()
			_, _ = f.Get(ctx)
			return workflow.Step(ctx, "b", func(context.Context) (string, error) { return "", workflow.Permanent(errors.New("no")) }, pausing(3))
		})
		id := g.start("one")
		pass(time.Hour)
		a.open <- errors.New("no")
		wait()
		g.wantHistory(id, "RunStarted TimerFired StepFailed(a) StepFailed(b) RunFailed")
		g.wantSaid("exhausted", 0)
	})
}

// J11: other steps that are executed end, and their outcomes are stored; none starts, and no retry
// does. The run is free when all have ended.
func TestExhaustedBesideOthers(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b, c, d := newGate(), newGate(), newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			_ = workflow.Sleep(ctx, time.Second) // else the first commit has nothing but steps
			fa := workflow.StepAsync(ctx, "a", a.stubborn, pausing(1))
			fb := workflow.StepAsync(ctx, "b", b.stubborn, pausing(2))
			fc := workflow.StepAsync(ctx, "c", c.stubborn, nil)
			if _, err := fc.Get(ctx); err != nil {
				return "", err
			}
			fd := workflow.StepAsync(ctx, "d", d.stubborn, nil)
			return "", errors.Join(awaited(ctx, fa), awaited(ctx, fb), awaited(ctx, fd))
		})
		id := g.start("beside")
		g.wake(id)
		b.open <- errors.New("once more")
		wait()
		a.open <- errors.New("down")
		g.wantHeld(id, testNode)
		c.open <- nil
		g.wantHeld(id, 0)
		pass(time.Hour)
		g.wantHistory(id, "RunStarted TimerFired StepCompleted(c)")
		g.wantBegun("a", a, 1)
		g.wantBegun("b", b, 1)
		g.wantBegun("d of a paused run", d, 0)
		g.resume(id)
		a.open <- nil
		wait()
		d.open <- nil
		wait()
		b.open <- errors.New("its second attempt")
		if why := g.toPause(id); why != "step b is exhausted after 2 attempts: its second attempt" {
			t.Errorf("paused because %s", why)
		}
		g.wantHistory(id, "RunStarted TimerFired StepCompleted(c) StepCompleted(a) StepCompleted(d)")
		b.open <- nil
		g.resume(id)
		wait()
		g.wantHistory(id, "RunStarted TimerFired StepCompleted(c) StepCompleted(a) StepCompleted(d) StepCompleted(b) RunCompleted")
	})
}

// A resume of a run that still executes another step gives the exhausted one its new attempts at
// once.
func TestExhaustedAndResumedWhileOwned(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			fa := workflow.StepAsync(ctx, "a", a.stubborn, pausing(1))
			_, err := workflow.Step(ctx, "b", b.stubborn, nil)
			return "", errors.Join(err, awaited(ctx, fa))
		})
		id := g.start("beside")
		for range 2 {
			a.open <- errors.New("down")
			g.wantHeld(id, testNode)
			g.wantBegun("a", a, 1)
			g.resume(id)
		}
		g.wantBegun("a", a, 1)
		a.open <- nil
		wait()
		b.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// A step that is exhausted while a commit is on its way pauses the run with the next one. What the
// commit in flight finds of the task does not renew it, and what its turn has asked for may start.
func TestExhaustedBehindACommit(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b, c := newGate(), newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			fa := workflow.StepAsync(ctx, "a", a.stubborn, pausing(1))
			if _, err := workflow.Step(ctx, "b", b.stubborn, nil); err != nil {
				return "", err
			}
			if err := workflow.Sleep(ctx, time.Minute); err != nil { // the commit is about the task
				return "", err
			}
			_, err := workflow.Step(ctx, "c", c.stubborn, nil)
			return "", errors.Join(err, awaited(ctx, fa))
		})
		id := g.start("beside")
		hold := make(chan struct{})
		g.store.late = func(c *driver.Commit) {
			if c.Pause == "" {
				<-hold
			}
		}
		b.open <- nil
		wait()
		a.open <- errors.New("down")
		wait()
		close(hold)
		g.wantHeld(id, 0)
		g.wantBegun("a", a, 1)
		if why := g.toPause(id); why != "step a is exhausted after 1 attempt: down" {
			t.Errorf("paused because %s", why)
		}
		pass(time.Hour)
		g.wantBegun("c", c, 0)
		a.open <- nil
		c.open <- nil
		g.resume(id)
		wait()
		g.wantBegun("a after the resume", a, 1)
		if g.task(id) != nil {
			t.Errorf("history is %s", g.history(id))
		}
	})
}

// An owner that dies when it has paused the run, or has heard of the resume, leaves its successor a
// step that is exhausted: paused, or with a new set of attempts.
func TestExhaustedOutlivesItsOwner(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			_ = workflow.Sleep(ctx, time.Second)
			fa := workflow.StepAsync(ctx, "a", a.stubborn, pausing(1))
			_, err := workflow.Step(ctx, "b", b.stubborn, nil)
			return "", errors.Join(err, awaited(ctx, fa))
		})
		id := g.start("beside")
		g.wake(id)
		a.open <- errors.New("down")
		g.wantHeld(id, testNode)
		free := func() { // as a reap does
			g.store.mu.Lock()
			defer g.store.mu.Unlock()
			task := g.store.runs[id].task
			task.Owner, task.State, task.Link = 0, driver.FreedState(task.State), 0
		}
		free()
		pass(time.Hour)
		g.wantBegun("a", a, 1)
		g.store.fate = func(c *driver.Commit) error { // the first owner after the resume writes nothing
			if c.Pause == "" && len(c.Events) == 0 {
				return journal.ErrFenced
			}
			return nil
		}
		g.resume(id)
		g.store.fate = nil
		if task := g.task(id); len(task.Attempts) != 1 || !task.Attempts[0].Exhausted {
			t.Fatalf("the first owner has stored %+v", task)
		}
		free()
		g.store.mu.Lock()
		g.store.runs[id].task.VisibleAt = g.store.Now()
		g.store.mu.Unlock()
		a.open <- nil
		b.open <- nil
		b.open <- nil
		b.open <- nil
		g.claim(id)
		wait()
		if g.task(id) != nil {
			t.Errorf("history is %s, attempts %+v", g.history(id), g.task(id).Attempts)
		}
	})
}

// A turn that ends the run, or the step itself, leaves nothing to pause for.
func TestExhaustedInTheLastTurn(t *testing.T) {
	for name, leave := range map[string]func(ctx workflow.Context, f workflow.Future[string], cancel func()) error{
		"the run ends": func(workflow.Context, workflow.Future[string], func()) error { return nil },
		"the step is cancelled": func(ctx workflow.Context, f workflow.Future[string], cancel func()) error {
			cancel()
			_ = awaited(ctx, f)
			return workflow.Sleep(ctx, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				a, b, c := newGate(), newGate(), newGate()
				g.define("leaves", func(ctx workflow.Context) (string, error) {
					scope, cancel := workflow.WithCancel(ctx)
					fa := workflow.StepAsync(scope, "a", a.stubborn, pausing(1))
					fb := workflow.StepAsync(ctx, "b", b.stubborn, nil)
					if _, err := workflow.Step(ctx, "c", c.stubborn, nil); err != nil {
						return "", err
					}
					if err := awaited(ctx, fb); err != nil {
						return "", err
					}
					return "", leave(ctx, fa, cancel)
				})
				hold := make(chan struct{})
				id := g.start("leaves")
				g.store.fate = func(*driver.Commit) error { <-hold; return nil }
				c.open <- nil
				wait()
				b.open <- nil
				wait()
				a.open <- errors.New("down")
				wait()
				g.wantSaid("exhausted a", 1)
				close(hold)
				wait()
				if g.task(id) != nil {
					g.wake(id)
					wait()
				}
				for _, c := range g.store.written() {
					if c.Pause != "" {
						t.Errorf("the run was paused: %s", c.Pause)
					}
				}
				if g.task(id) != nil {
					t.Errorf("history is %s", g.history(id))
				}
			})
		})
	}
}

// A node that drains, and has no time left, still tells the store before it lets the run go.
func TestExhaustedInADrain(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			_ = workflow.Sleep(ctx, time.Second)
			fa := workflow.StepAsync(ctx, "a", a.stubborn, pausing(1))
			_, err := workflow.Step(ctx, "b", b.heedful, nil)
			return "", errors.Join(err, awaited(ctx, fa))
		})
		id := g.start("beside")
		g.wake(id)
		hold := make(chan struct{})
		g.store.fate = func(c *driver.Commit) error {
			if c.Pause != "" {
				<-hold
			}
			return nil
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			g.sys.Drain(ctx, time.Minute)
		}()
		wait()
		a.open <- errors.New("down")
		pass(90 * time.Second)
		close(hold)
		g.wantHeld(id, 0)
		<-done
		if a := g.task(id).Attempts; len(a) != 1 || !a[0].Exhausted {
			t.Errorf("attempts: %+v", a)
		}
	})
}
