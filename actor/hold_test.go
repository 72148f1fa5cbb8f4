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

// pauseQuietly pauses a run, and the hint is lost.
func (g *rig) pauseQuietly(id journal.RunID, kind driver.AdminKind) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	t := g.store.runs[id].task
	t.State = driver.PausedBy(kind, t)
}

func (g *rig) pause(id journal.RunID, kind driver.AdminKind) {
	g.pauseQuietly(id, kind)
	g.sys.Attend(id)
	wait()
}

// resume resumes a run: its owner looks, or somebody claims it.
func (g *rig) resume(id journal.RunID) {
	g.store.mu.Lock()
	t := g.store.runs[id].task
	t.State = journal.Ready
	owned := t.Owner != 0
	g.store.mu.Unlock()
	if owned {
		g.sys.Attend(id)
		wait()
	} else {
		g.claim(id)
	}
}

// wantHeld expects a run to be paused, with its owner or free.
func (g *rig) wantHeld(id journal.RunID, owner journal.NodeID) {
	g.t.Helper()
	wait()
	if task := g.task(id); task == nil || task.State != journal.Paused || task.Owner != owner {
		g.t.Errorf("the task is %+v, want it paused with owner %d", task, owner)
	}
}

// begun tells how often a gate's body has begun since it was asked last.
func (s *gate) begun() (n int) {
	for ; len(s.began) > 0; n++ {
		<-s.began
	}
	return n
}

func (g *rig) wantBegun(what string, s *gate, want int) {
	g.t.Helper()
	wait()
	if got := s.begun(); got != want {
		g.t.Errorf("%s: %d attempts have begun, want %d", what, got, want)
	}
}

// twoSteps is a workflow of one step after another.
func (g *rig) twoSteps(a, b *gate) {
	g.define("two", func(ctx workflow.Context) (string, error) {
		if _, err := workflow.Step(ctx, "a", a.stubborn, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}}); err != nil {
			return "", err
		}
		return workflow.Step(ctx, "b", b.stubborn, nil)
	})
}

// J11: a run that hears of a pause lets its attempt end and stores the outcome. What code asks for
// then starts when the run is resumed.
func TestPauseLetsAttemptsEnd(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.twoSteps(a, b)
		id := g.start("two")
		g.wantBegun("a", a, 1)
		g.pause(id, driver.AdminPause)
		g.wantHeld(id, testNode) // the answer does not wait for the step
		pass(time.Hour)
		a.open <- nil
		g.wantHeld(id, 0)
		g.wantHistory(id, "RunStarted StepCompleted(a)")
		pass(time.Hour)
		g.wantBegun("b of a paused run", b, 0)
		g.wantLive(0)
		g.resume(id)
		g.wantBegun("b", b, 1)
		b.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// J11: an attempt that fails is not repeated while the run is on hold, and counts.
func TestPauseHoldsRetriesBack(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.twoSteps(a, b)
		id := g.start("two")
		a.begun()
		g.pause(id, driver.AdminPause)
		a.open <- errors.New("no")
		g.wantHeld(id, 0)
		if task := g.task(id); len(task.Attempts) != 1 || task.Attempts[0].Made != 1 {
			t.Errorf("attempts: %+v", task.Attempts)
		}
		pass(time.Hour)
		g.wantBegun("a of a paused run", a, 0)
		g.resume(id)
		g.wantBegun("a", a, 1)
		a.open <- nil
		b.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// J11: the commit that was on its way when somebody paused the run tells its owner, who starts none
// of what that very turn asked for. Nobody else tells it.
func TestPauseMeetsACommit(t *testing.T) {
	for name, before := range map[string]bool{"the pause comes first": true, "the commit comes first": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				a, b := newGate(), newGate()
				g.twoSteps(a, b)
				id := g.start("two")
				a.begun()
				if before {
					g.store.fate = func(*driver.Commit) error { g.pauseQuietly(id, driver.AdminPause); return nil }
				} else {
					g.store.late = func(c *driver.Commit) {
						if n := len(c.Events); n > 0 && c.Events[n-1].Name == "a" {
							g.pauseQuietly(id, driver.AdminPause)
						}
					}
				}
				a.open <- nil
				wait()
				// A run that is loaded anew after the commit can hear of the pause before b has its slot.
				heard := before || g.sys.o.PassivateAlways && len(b.began) == 0
				if !heard { // b has started: the outcome knew of no pause. The claim tells
					g.wantBegun("b", b, 1)
					g.store.late = nil
					g.sys.Attend(id)
					g.wantHeld(id, testNode)
					b.open <- nil
					wait()
					return
				}
				g.wantHeld(id, 0)
				g.wantBegun("b of a paused run", b, 0)
				g.wantHistory(id, "RunStarted StepCompleted(a)")
			})
		})
	}
}

// J11: steps that wait for a slot when the run is paused do not get one.
func TestPauseWithdrawsWhatWaits(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			f := workflow.StepAsync(ctx, "a", a.stubborn, nil)
			workflow.StepAsync(ctx, "b", b.stubborn, nil)
			return f.Get(ctx)
		})
		id := g.start("beside")
		g.wantBegun("a", a, 1)
		g.pause(id, driver.AdminPause)
		a.open <- errors.New("once more")
		g.wantHeld(id, 0)
		pass(time.Hour)
		g.wantBegun("b of a paused run", b, 0)
		g.wantBegun("a of a paused run", a, 0)
		b.open <- nil
		a.open <- nil
		g.resume(id)
		wait()
		// Either of the two gets the slot first.
		const first, second = "RunStarted StepCompleted(a) RunCompleted", "RunStarted StepCompleted(b) StepCompleted(a) RunCompleted"
		if got := g.history(id); got != first && got != second {
			t.Errorf("history is %s", got)
		}
	})
}

// An operator who does not want to wait has the attempts interrupted. They do not count.
func TestPauseInterrupts(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var cause atomic.Value
		var attempt atomic.Int32
		done := false
		g.define("one", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(ctx context.Context) (string, error) {
				info, _ := workflow.StepInfo(ctx)
				attempt.Store(int32(info.Attempt))
				if done {
					return "done", nil
				}
				<-ctx.Done()
				cause.Store(context.Cause(ctx))
				return "", ctx.Err()
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
		})
		id := g.start("one")
		g.pause(id, driver.AdminPause)
		g.wantHeld(id, testNode)
		g.pause(id, driver.AdminInterrupt) // of a run that is paused and waits for its attempt
		g.wantHeld(id, 0)
		if err, _ := cause.Load().(error); !errors.Is(err, ErrPaused) {
			t.Errorf("the attempt ended with %v", err)
		}
		done = true
		g.resume(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		if attempt.Load() != 1 {
			t.Errorf("attempt %d has completed the step", attempt.Load())
		}
	})
}

// An attempt that is interrupted ends when its body does, also if it has a time limit: no second
// body starts beside it, and what it returns counts.
func TestInterruptedBodiesAreWaitedFor(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", a.stubborn, &workflow.StepOptions{AttemptTimeout: time.Hour})
		})
		id := g.start("one")
		g.wantBegun("a", a, 1)
		g.pause(id, driver.AdminInterrupt)
		g.wantHeld(id, testNode)
		a.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		g.wantBegun("a once more", a, 0)
	})
}

// While a run is on hold and waits for an attempt, timers and messages wait. A resume that finds it
// so lets all of them happen, and the steps that were asked for start.
func TestResumeOfARunThatIsStillOwned(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("beside", func(ctx workflow.Context) (string, error) {
			f := workflow.StepAsync(ctx, "a", a.stubborn, nil)
			_ = workflow.Sleep(ctx, time.Minute)
			_, _ = workflow.Signal[int]("s").Receive(ctx)
			if _, err := workflow.Step(ctx, "b", b.stubborn, nil); err != nil {
				return "", err
			}
			return f.Get(ctx)
		})
		id := g.start("beside")
		g.pause(id, driver.AdminPause)
		g.signal(id, "s", 1)
		pass(time.Hour)
		g.wantHeld(id, testNode)
		g.wantHistory(id, "RunStarted")
		g.resume(id)
		g.wantHistory(id, "RunStarted SignalReceived(s) TimerFired")
		g.wantBegun("b", b, 1)
		a.open <- nil
		b.open <- nil
		wait()
		if g.task(id) != nil {
			t.Errorf("history is %s", g.history(id))
		}
	})
}

// A run that ends a generation while it is on hold does not begin the next one.
func TestPauseAtTheEndOfAGeneration(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		first := true
		g.define("again", func(ctx workflow.Context) (string, error) {
			if !first {
				return workflow.Step(ctx, "b", b.stubborn, nil)
			}
			if _, err := workflow.Step(ctx, "a", a.stubborn, nil); err != nil {
				return "", err
			}
			first = false
			return "", workflow.ContinueAsNew(ctx, workflow.Name[int, string]("again"), 1, nil)
		})
		id := g.start("again")
		a.begun()
		g.pause(id, driver.AdminPause)
		a.open <- nil
		g.wantHeld(id, 0)
		g.wantBegun("b of a paused run", b, 0)
		b.open <- nil
		g.resume(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(b) RunCompleted")
	})
}

// A resume that overtakes the answer to a pause leaves the run going on.
func TestResumeOvertakesTheAnswer(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.twoSteps(a, b)
		id := g.start("two")
		a.begun()
		g.store.fate = func(c *driver.Commit) error {
			if c.Hold {
				g.store.mu.Lock()
				defer g.store.mu.Unlock()
				g.store.runs[id].task.State = journal.Ready
			}
			return nil
		}
		g.pause(id, driver.AdminPause)
		if task := g.task(id); task.State != journal.Ready || task.Owner != testNode {
			t.Errorf("the task is %+v", task)
		}
		a.open <- nil
		g.wantBegun("b", b, 1)
		b.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// J11: an answer to a pause is none to an interruption that comes before it and that the owner has
// not heard of. Its outcome tells, and then the attempt is interrupted.
func TestInterruptionOvertakesTheAnswer(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "a", a.heedful, nil); err != nil {
				return "", err
			}
			return workflow.Step(ctx, "b", b.heedful, nil)
		})
		id := g.start("two")
		g.wantBegun("a", a, 1)
		overtaken := false
		g.store.fate = func(c *driver.Commit) error {
			if c.Hold && !overtaken {
				overtaken = true
				g.pauseQuietly(id, driver.AdminInterrupt)
			}
			return nil
		}
		g.pause(id, driver.AdminPause)
		g.wantHeld(id, 0) // the body has ended with its context, and the run is free
		if !overtaken {
			t.Error("the pause got no answer")
		}
		a.open <- nil
		b.open <- nil
		g.resume(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// A resume that overtakes the park of a run that was paused finds no owner that looks afterwards.
// So the run is parked as one that is due, whatever it waits for: somebody claims it and looks.
func TestResumeOvertakesThePark(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("receives", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "a", a.stubborn, nil); err != nil {
				return "", err
			}
			_, err := workflow.Signal[int]("s").Receive(ctx)
			return "", err
		})
		id := g.start("receives")
		g.wantBegun("a", a, 1)
		g.pause(id, driver.AdminPause)
		overtaken := false
		g.store.fate = func(c *driver.Commit) error {
			if c.Next.Kind == driver.NextPark && !overtaken {
				overtaken = true
				g.store.mu.Lock()
				defer g.store.mu.Unlock()
				g.store.runs[id].task.State, g.store.runs[id].task.VisibleAt = journal.Ready, g.store.Now()
			}
			return nil
		}
		a.open <- nil
		wait()
		task := g.task(id)
		if !overtaken || task.State != journal.Ready || task.Owner != 0 || task.VisibleAt.IsZero() || task.VisibleAt.After(g.store.Now()) {
			t.Fatalf("overtaken %v: the task is %+v", overtaken, task)
		}
		g.claim(id)
		if task := g.task(id); task.Owner != 0 || !task.VisibleAt.IsZero() {
			t.Errorf("after the claim it waits for its signal alone: %+v", task)
		}
		g.signal(id, "s", 7)
		g.claim(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) SignalReceived(s) RunCompleted")
	})
}

// J11: an attempt that has its slot and waits for its transaction is called off: its body would
// begin after the answer.
func TestPauseCallsOffWhatWaitsForATransaction(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("tx", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "a", func(ctx context.Context, _ *memoryTx) (string, error) { return a.stubborn(ctx) }, nil)
		})
		g.store.refuse = journal.ErrUnavailable
		id := g.start("tx")
		g.pause(id, driver.AdminPause)
		g.store.mu.Lock()
		g.store.refuse = nil
		g.store.mu.Unlock()
		pass(time.Hour)
		g.wantBegun("a of a paused run", a, 0)
		g.wantHeld(id, 0)
		a.open <- nil
		g.resume(id)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
	})
}

// J9, J11: the body of a step whose transaction has begun late is not called when the run is somebody
// else's by then, or is blocked: it may be paused.
func TestALostRunBeginsNoBody(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a := newGate()
		g.define("tx", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "a", func(ctx context.Context, _ *memoryTx) (string, error) { return a.stubborn(ctx) }, nil)
		})
		g.store.beginTakes = time.Second
		id := g.start("tx")
		g.store.mu.Lock()
		g.store.runs[id].task.Owner++
		g.store.mu.Unlock()
		g.sys.Attend(id)
		pass(time.Hour)
		g.wantSaid("released", 1)
		g.wantBegun("a of a lost run", a, 0)
		g.wantNoAttempts()
	})
}
