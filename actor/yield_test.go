package actor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
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

// A run whose steps overlap comes to rest first: it starts no step until those that run have ended.
// If they do not end in time, it goes on.
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
								if _, err := workflow.Step(ctx, fmt.Sprint("s", i), nap(time.Duration(300+100*i)*time.Millisecond), nil); err != nil {
									return
								}
								steps.Add(1)
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
				pass(2 * restMax)
				if got := steps.Load() - before; (got > 0) != (long > 0) {
					t.Errorf("%d steps after the rest", got)
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
