package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// nap is a step that takes d.
func nap(d time.Duration) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		select {
		case <-time.After(d):
			return "", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// defineBusy registers a workflow that always has a next step of 300 ms, and counts them.
func defineBusy(g *rig, steps *int) {
	g.define("busy", func(ctx workflow.Context) (string, error) {
		for {
			if _, err := workflow.Step(ctx, "a", nap(300*time.Millisecond), nil); err != nil {
				return "", err
			}
			*steps++
		}
	})
}

func (g *rig) wantGivenBack(id journal.RunID, want bool) {
	g.t.Helper()
	if task := g.task(id); (task.Owner == 0) != want || want && task.VisibleAt.After(time.Now()) {
		g.t.Errorf("the run is given back: %v, visible at %s; want %v", task.Owner == 0, task.VisibleAt, want)
	}
}

// A run that has had its place for a quantum gives it back while others wait, between two steps and
// without losing anything. While nobody waits it keeps its place.
func TestBusyRunsYieldToOthers(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		steps := 0
		defineBusy(g, &steps)
		id := g.start("busy")
		pass(5 * quantum)
		g.wantGivenBack(id, false)
		g.sys.Crowd(true)
		pass(400 * time.Millisecond)
		g.wantGivenBack(id, true)
		g.wantLive(0)
		loads := g.store.loads
		before := steps
		g.claim(id)
		pass(quantum - 100*time.Millisecond)
		g.wantGivenBack(id, false)
		pass(400 * time.Millisecond)
		g.wantGivenBack(id, true)
		if g.sys.o.PassivateAlways {
			return
		}
		if steps != before+4 {
			t.Errorf("%d steps in the second place, want 4", steps-before)
		}
		if g.store.loads != loads {
			t.Error("the run was loaded again, although its actor stayed warm")
		}
	})
}

// A run that is about to repeat a failed attempt yields at once, and not before it has tried.
func TestRetriesYieldToOthers(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		tries := 0
		g.stepWith(&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 1, Factor: 1, Max: 1, Jitter: -1}},
			func(context.Context) (string, error) {
				tries++
				time.Sleep(10 * time.Millisecond)
				return "", errors.New("down")
			})
		g.sys.Crowd(true)
		id := g.start("one")
		for want := 1; want < 4; want++ {
			pass(time.Second)
			g.wantGivenBack(id, true)
			if tries != want || g.task(id).Attempts[0].Made != int32(want) {
				t.Errorf("%d tries, %d are stored, want %d", tries, g.task(id).Attempts[0].Made, want)
			}
			g.claim(id)
		}
	})
}

// A run at rest does not wake for a retry that falls due meanwhile: it would do so without end.
func TestRetryDuringARestWaits(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var tries atomic.Int32
		g.define("two", func(ctx workflow.Context) (string, error) {
			workflow.StepAsync(ctx, "long", nap(time.Hour), nil)
			retry := &workflow.RetryPolicy{Initial: 400 * time.Millisecond, Factor: 1, Max: 400 * time.Millisecond, Jitter: -1}
			return workflow.Step(ctx, "bad", func(context.Context) (string, error) {
				tries.Add(1)
				return "", errors.New("down")
			}, &workflow.StepOptions{Retry: retry})
		})
		g.sys.Crowd(true)
		id := g.start("two")
		pass(quantum + restMax - 100*time.Millisecond)
		before := tries.Load()
		pass(2 * restMax)
		if before > 3 || tries.Load() <= before {
			t.Errorf("%d tries before the end of the rest, %d afterwards", before, tries.Load()-before)
		}
		g.wantGivenBack(id, false)
	})
}

// What is in memory only keeps a run from yielding: an outcome that its last turn had no room for.
func TestOutcomesThatWaitKeepARunFromYielding(t *testing.T) {
	r := &run{host: &host{}, place: place{rest: time.Now()}}
	if !yields(r) {
		t.Error("a run at rest does not yield")
	}
	r.inputs.addOutcome(&step{}, result{}, time.Now())
	if yields(r) {
		t.Error("a run yields although an outcome waits")
	}
}

// A run whose steps overlap comes to rest first: it starts no step until those that run have ended.
// If they do not end in time, it goes on, for a quantum before the next rest.
func TestOverlappingStepsComeToRest(t *testing.T) {
	for name, long := range map[string]time.Duration{"they end": 0, "one does not end": time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				var steps atomic.Int32
				g.define("many", func(ctx workflow.Context) (string, error) {
					if long > 0 {
						workflow.StepAsync(ctx, "long", nap(long), nil)
					}
					var wg workflow.WaitGroup
					for i := range 2 {
						wg.Go(ctx, func(ctx workflow.Context) {
							for {
								_, err := workflow.Step(ctx, fmt.Sprint("s", i), func(ctx context.Context) (string, error) {
									defer steps.Add(1)
									return nap(time.Duration(300+100*i) * time.Millisecond)(ctx)
								}, nil)
								if err != nil {
									return
								}
							}
						})
					}
					return "", wg.Wait(ctx)
				})
				id := g.start("many")
				pass(2 * quantum)
				g.sys.Crowd(true)
				pass(900 * time.Millisecond)
				g.wantGivenBack(id, long == 0)
				before := steps.Load()
				pass(5 * (quantum + restMax))
				low, high := int32(0), int32(0)
				if long > 0 {
					low, high = 5*(3+2), 5*(4+3) // of 300 and of 400 ms, in five quanta
				}
				if got := steps.Load() - before; got < low || got > high {
					t.Errorf("%d steps after the rest, want %d to %d", got, low, high)
				}
			})
		})
	}
}

// A run that waits for a slot in vain goes to the queue, where another node may take it, unless
// there is enough in the queue already.
func TestStalledRunsYield(t *testing.T) {
	for _, crowded := range []bool{false, true} {
		t.Run(fmt.Sprint("crowded ", crowded), func(t *testing.T) {
			bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
				g.stepWith(nil, nap(time.Minute))
				g.sys.Crowd(crowded)
				first := g.start("one")
				second := g.start("one")
				pass(quantum - time.Millisecond)
				g.wantGivenBack(second, false)
				pass(100 * time.Millisecond)
				g.wantGivenBack(first, false)
				g.wantGivenBack(second, !crowded)
				if n := g.sys.exec.slots.queued.Load(); (n == 0) == crowded {
					t.Errorf("%d attempts wait", n)
				}
				pass(time.Minute)
				g.wantHistory(first, "RunStarted StepCompleted(a) RunCompleted")
				if !crowded {
					g.claim(second)
				}
				pass(time.Minute)
				g.wantHistory(second, "RunStarted StepCompleted(a) RunCompleted")
			})
		})
	}
}

// fullLimits is a Limiter whose limits are used up for good.
type fullLimits struct{ waiting sync.Map }

func (l *fullLimits) Want(w *LimitWant) { l.waiting.Store(w, nil) }

func (l *fullLimits) Withdraw(w *LimitWant) bool {
	_, waits := l.waiting.LoadAndDelete(w)
	return waits
}

func (*fullLimits) Release(*LimitWant, []journal.LimitNeed) {}

// A run whose attempts only wait for limits gives its place to others who wait for one, after
// limitQuantum, and stays away for limitRest. While nobody waits it keeps its place.
func TestRunsThatWaitForLimitsYield(t *testing.T) {
	bubble(t, func(o *Options) { o.Limiter = new(fullLimits) }, func(g *rig) {
		g.stepWith(&workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "full"}}}, nap(time.Minute))
		alone := g.start("one")
		pass(3 * limitQuantum)
		g.wantGivenBack(alone, false)
		g.sys.Crowd(true)
		late := g.start("one")
		pass(limitQuantum - time.Second)
		g.wantGivenBack(late, false)
		pass(2 * time.Second)
		for name, id := range map[string]journal.RunID{"that had waited before others did": alone, "that came later": late} {
			task := g.task(id)
			if away := time.Until(task.VisibleAt); task.Owner != 0 || away <= limitRest-limitQuantum-2*time.Second || away > limitRest {
				t.Errorf("the run %s belongs to %d, and is due in %s; want nobody, and %s since it was given back", name, task.Owner, away, limitRest)
			}
		}
	})
}

// An attempt that leaves the queue without a slot holds nothing any more: neither its context, of
// which the system keeps the parent, nor a place among the attempts that the end waits for.
func TestAttemptsThatDoNotBeginHoldNothing(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		g.stepWith(nil, nap(time.Minute))
		g.start("one") // has the slot
		attempts := [2]attempt{}
		for i := range attempts {
			a := &attempts[i]
			a.run, a.reply, a.options = runOf(3), g.sys.shards[0], &replay.StepOptions{}
			a.ctx, a.cancel = context.WithCancelCause(g.sys.exec.base)
			g.sys.exec.execute(a)
		}
		if !g.sys.exec.withdraw(&attempts[0]) || attempts[0].ctx.Err() == nil {
			t.Error("an attempt that is withdrawn keeps its context")
		}
		attempts[1].cancel(ErrCancelRequested)
		wait()
		if n := g.sys.exec.slots.queued.Load(); n != 0 {
			t.Errorf("%d attempts wait", n)
		}
	})
}

// The time that a step waits for its slot counts towards the limit of the whole step.
func TestTimeInTheQueueIsTheSteps(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		g.stepWith(nil, nap(10*time.Second))
		g.start("one") // has the slot
		g.define("limited", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "b", nap(time.Hour), &workflow.StepOptions{Timeout: 15 * time.Second})
		})
		g.sys.Crowd(true) // so that the run keeps its place
		id := g.start("limited")
		pass(14 * time.Second)
		g.wantHistory(id, "")
		pass(2 * time.Second)
		g.wantHistory(id, "RunStarted StepFailed(b) RunFailed")
	})
}

// A drain hands back what waits for a slot at once, and waits for what has one.
func TestDrainTakesWaitingAttemptsBack(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		s := newGate()
		g.stepWith(nil, s.heedful)
		first, second := g.start("one"), g.start("one")
		ended := make(chan struct{})
		go func() { defer close(ended); g.sys.Drain(context.Background(), time.Second) }()
		wait()
		g.wantGivenBack(first, false)
		g.wantGivenBack(second, true)
		s.open <- nil
		<-ended
		g.wantHistory(first, "RunStarted StepCompleted(a) RunCompleted")
		if len(s.began) != 1 {
			t.Errorf("%d attempts began, want 1", len(s.began))
		}
	})
}
