package actor

import (
	"context"
	"errors"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A first turn that only asks for steps joins the commit of the first outcome.
func TestFirstTurnIsLazy(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		id := g.start("one")
		<-s.began
		g.wantHistory(id, "")
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		if len(g.store.commits) != 1 || g.store.loads != 0 {
			t.Errorf("%d commits and %d loads, want 1 and 0", len(g.store.commits), g.store.loads)
		}
		g.wantSaid("released", 1)
		g.wantLive(0)
	})
}

// J3: a refused commit takes everything in memory with it, and cancels what still runs.
func TestFencedCommit(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		var cause error
		g.define("two", func(ctx workflow.Context) (string, error) {
			fb := workflow.StepAsync(ctx, "b", func(ctx context.Context) (string, error) {
				out, err := b.heedful(ctx)
				cause = context.Cause(ctx)
				return out, err
			}, nil)
			if _, err := workflow.Step(ctx, "a", a.heedful, nil); err != nil {
				return "", err
			}
			return fb.Get(ctx)
		})
		id := g.start("two")
		<-a.began
		<-b.began
		g.store.claim(id, 8) // somebody else
		a.open <- nil
		wait()
		if !errors.Is(cause, ErrRunLost) {
			t.Errorf("the other step's cause is %v, want ErrRunLost", cause)
		}
		g.wantHistory(id, "")
		g.wantSaid("lost", 1)
		g.wantSaid("released", 1)
		g.wantLive(0)
	})
}

// The same claim delivered twice, and one with a newer fence, leave one activation each.
func TestDuplicateActivation(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		id := g.start("one")
		g.sys.Activate(driver.Claimed{Task: *g.task(id), Run: g.store.runs[id].run})
		wait()
		g.wantLive(1)
		g.claim(id)
		g.wantLive(1)
		if n := len(s.began); n != 2 {
			t.Errorf("the step began %d times, want once for each owner", n)
		}
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		g.wantLive(0)
	})
}

// A parked run continues where it stands, without loading its history. J6: the message that woke it
// is read.
func TestWarmReactivation(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) {
			return workflow.Signal[string]("word").Receive(ctx)
		})
		id := g.start("ears")
		g.wantLive(0)
		g.signal(id, "word", "hello")
		g.claim(id)
		g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
		g.wantSaid("replayed", 0)
	})
}

// A claim may come before the answer of the commit that parked the run. The run is not lost then:
// it continues, warm.
func TestClaimOvertakesThePark(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) {
			return workflow.Signal[string]("word").Receive(ctx)
		})
		answer := make(chan struct{})
		g.store.late = func(c *driver.Commit) {
			if c.Next.Kind == driver.NextPark {
				<-answer
			}
		}
		id := g.start("ears")
		g.signal(id, "word", "hello")
		g.claim(id)
		close(answer)
		wait()
		g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
		g.wantSaid("lost", 0)
		g.wantLive(0)
		if !g.sys.o.PassivateAlways {
			g.wantSaid("replayed", 0)
		}
	})
}

// A run is parked exactly when nothing of it can continue, until its earliest timer or retry.
func TestParking(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		began := time.Now()
		g.define("sleeper", func(ctx workflow.Context) (string, error) {
			return "woke", workflow.Sleep(ctx, time.Hour)
		})
		id := g.start("sleeper")
		g.wantLive(0)
		if got := g.task(id); got.Owner != 0 || !got.VisibleAt.Equal(began.Add(time.Hour)) {
			t.Errorf("parked with owner %d until %s", got.Owner, got.VisibleAt)
		}
		pass(time.Hour)
		g.claim(id)
		g.wantHistory(id, "RunStarted TimerFired RunCompleted")
	})
}

// Back-off stays within Initial·Factor^n ±Jitter and Max, and a parked retry keeps its count.
func TestRetriesPark(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		tries := 0
		g.define("stubborn", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(context.Context) (string, error) {
				if tries++; tries < 4 {
					return "", errors.New("no")
				}
				return "yes", nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Minute, Factor: 2, Max: 3 * time.Minute, Jitter: 0.1}})
		})
		id := g.start("stubborn")
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute} {
			task := g.task(id)
			in := time.Until(task.VisibleAt)
			if task.Owner != 0 || in < want*9/10 || in > want*11/10 {
				t.Errorf("parked for %s, want about %s", in, want)
			}
			pass(in + time.Millisecond)
			g.claim(id)
		}
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		if ev := g.store.runs[id].events[1]; ev.Attempt != 4 {
			t.Errorf("completed by attempt %d, want 4", ev.Attempt)
		}
	})
}

// Panics and Goexit of a step are failed attempts.
func TestStepsThatDoNotReturn(t *testing.T) {
	for name, body := range map[string]func(context.Context) (string, error){
		"panic":  func(context.Context) (string, error) { panic("oh") },
		"goexit": func(context.Context) (string, error) { goruntime.Goexit(); return "", nil },
	} {
		for _, limit := range []time.Duration{0, time.Minute} {
			t.Run(name, func(t *testing.T) {
				bubble(t, nil, func(g *rig) {
					g.define("one", func(ctx workflow.Context) (string, error) {
						return workflow.Step(ctx, "a", body, &workflow.StepOptions{
							AttemptTimeout: limit, Retry: &workflow.RetryPolicy{Attempts: 1},
						})
					})
					id := g.start("one")
					g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
				})
			})
		}
	}
}

// Workflow code that panics blocks the run; the next owner tries again.
func TestPanicOfWorkflowBlocks(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		bad := true
		g.define("moody", func(ctx workflow.Context) (string, error) {
			if bad {
				panic("not today")
			}
			return "fine", nil
		})
		id := g.start("moody")
		if got := g.task(id); got.State != journal.Blocked || got.Owner != 0 {
			t.Errorf("task is %s, owned by %d", got.State, got.Owner)
		}
		g.wantSaid("blocked", 1)
		bad = false
		g.claim(id)
		g.wantHistory(id, "RunStarted RunCompleted")
		g.wantLive(0)
	})
}

// A failure of the engine itself blocks the run, whatever is in flight.
func TestEngineFailureBlocks(t *testing.T) {
	bubble(t, func(o *Options) { o.Lookup = nil }, func(g *rig) {
		g.define("one", func(ctx workflow.Context) (string, error) { return "x", nil })
		id := g.start("one") // Lookup is nil, so the actor panics
		if got := g.task(id); got.State != journal.Blocked || got.Owner != 0 {
			t.Errorf("task is %s, owned by %d", got.State, got.Owner)
		}
		g.wantLive(0)
	})
}

// A reconciling claim returns runs that may be live here, or have been closed since: nothing is
// done twice.
func TestUnconfirmed(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		id := g.start("one")
		claimed := g.claimed(id)
		g.sys.ActivateUnconfirmed(claimed) // live
		wait()
		g.wantLive(1)
		g.claim(id) // fence 2
		g.sys.ActivateUnconfirmed(claimed)
		wait()
		g.wantLive(1)
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		began := len(s.began)
		g.sys.ActivateUnconfirmed(claimed) // closed, and its actor is gone
		wait()
		if len(s.began) != began {
			t.Error("the step of a closed run began again")
		}
		g.wantLive(0)
		g.wantSaid("lost", 1) // to the second claim
		if n := g.actors(); n != 0 {
			t.Errorf("%d actors stay", n)
		}
	})
}

// A run whose answer to the claim was lost is this node's once a load has shown it, and can be
// lost.
func TestUnconfirmedIsLostLater(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		id := g.create("one")
		g.sys.ActivateUnconfirmed(g.claimed(id))
		wait()
		g.store.fate = fenced
		s.open <- nil
		wait()
		g.wantSaid("lost", 1)
	})
}

// A start whose answer was lost is found by a reconciling claim, and runs.
func TestUnconfirmedUnknown(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("one", func(workflow.Context) (string, error) { return "x", nil })
		id := g.create("one")
		g.sys.ActivateUnconfirmed(g.claimed(id))
		wait()
		g.wantHistory(id, "RunStarted RunCompleted")
	})
}
