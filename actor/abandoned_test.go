package actor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/internal/goroutine"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// hangs defines a workflow whose step has bodies that ignore their context, and one that is in
// order.
func (g *rig) hangs(name string, s *gate) {
	g.define(name, func(ctx workflow.Context) (string, error) {
		return workflow.Step(ctx, "of "+name, s.stubborn, &workflow.StepOptions{
			AttemptTimeout: time.Second, Retry: &workflow.RetryPolicy{Initial: 5 * time.Second, Factor: 1, Max: 5 * time.Second, Jitter: -1},
		})
	})
	g.define("fine", func(ctx workflow.Context) (string, error) {
		return workflow.Step(ctx, "a", func(context.Context) (string, error) { return "done", nil }, nil)
	})
}

// wantFine checks that a step of another workflow is executed now.
func (g *rig) wantFine() {
	g.t.Helper()
	g.wantHistory(g.start("fine"), "RunStarted StepCompleted(a) RunCompleted")
}

// let lets a run that is parked between attempts go on for a while.
func (g *rig) let(d time.Duration, ids ...journal.RunID) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		pass(100 * time.Millisecond)
		for _, id := range ids {
			if task := g.task(id); task != nil && task.Owner == 0 && !task.VisibleAt.After(time.Now()) {
				g.claim(id)
			}
		}
	}
}

// One step that hangs leaves a quarter of the slots' worth of bodies behind, and not one more: its
// attempts fail before they begin. Steps of others have all slots.
func TestOneStepThatHangs(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 8 }, func(g *rig) {
		s := newGate()
		g.hangs("hung", s)
		id := g.start("hung")
		for range 30 {
			g.let(2*time.Second, id)
			g.wantFine()
		}
		if len(s.began) != 2 || g.hanging.Load() != 2 {
			t.Errorf("%d bodies have begun, %d are abandoned", len(s.began), g.hanging.Load())
		}
		if free := g.sys.exec.slots.free.Load(); free != 8 {
			t.Errorf("%d slots are free", free)
		}
		g.wantSaid("attempt has not begun: 2 bodies of step of hung of workflow hung ignore their context", g.said("has not begun"))
		if g.said("has not begun") < 8 {
			t.Errorf("%d attempts failed for it", g.said("has not begun"))
		}
		g.wantSaid("hangs of hung 1, 1 in all, kept false, at actor.(*gate).stubborn (rig_test.go:", 1)
		s.open <- nil
		s.open <- nil
		s.open <- nil // and the attempt that may begin again
		g.let(10*time.Second, id)
		g.wantHistory(id, "RunStarted StepCompleted(of hung) RunCompleted")
	})
}

// Attempts that fill all slots and hang give them all to others.
func TestAllSlotsHang(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 4 }, func(g *rig) {
		s := newGate()
		g.hangs("hung", s)
		var ids []journal.RunID
		for range 4 {
			ids = append(ids, g.start("hung"))
		}
		late := g.start("fine") // waits for a slot
		g.let(2*time.Second, append(ids, late)...)
		g.wantHistory(late, "RunStarted")
		g.let(2*time.Second, append(ids, late)...)
		g.wantHistory(late, "RunStarted StepCompleted(a) RunCompleted")
		g.let(time.Minute, ids...)
		g.wantFine()
		if len(s.began) != 4 || g.hanging.Load() != 4 {
			t.Errorf("%d bodies have begun, %d are abandoned", len(s.began), g.hanging.Load())
		}
		close(s.open)
		g.let(10*time.Second, ids...)
		for _, id := range ids {
			g.wantHistory(id, "RunStarted StepCompleted(of hung) RunCompleted")
		}
	})
}

// Slots are given away up to a bound: what hangs beyond it keeps its slot, and says so.
func TestBoundOfAbandonedBodies(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 2 }, func(g *rig) {
		s := newGate()
		var ids []journal.RunID
		for i := range 5 {
			name := fmt.Sprint("hung", i)
			g.hangs(name, s)
			ids = append(ids, g.start(name))
			g.let(10*time.Second, ids...)
		}
		g.wantSaid("kept false", 4)
		g.wantSaid("kept true", 1)
		if free := g.sys.exec.slots.free.Load(); free != 1 {
			t.Errorf("%d slots are free, want 1", free)
		}
		g.wantFine()
		close(s.open)
		g.let(10*time.Second, ids...)
	})
}

// Whatever ends an attempt whose body goes on, the body is abandoned. One that may go on, or that
// ends with its context, is not.
func TestWhatIsAbandoned(t *testing.T) {
	for name, tc := range map[string]struct {
		options   workflow.StepOptions
		heedful   bool
		tx        bool
		ends      bool // the workflow ends meanwhile
		abandoned int64
	}{
		"attempt":                 {options: workflow.StepOptions{AttemptTimeout: time.Second, Retry: once1}, abandoned: 1},
		"overall":                 {options: workflow.StepOptions{Timeout: time.Second}, abandoned: 1},
		"heartbeat":               {options: workflow.StepOptions{HeartbeatTimeout: time.Second, Retry: once1}, abandoned: 1},
		"run ended":               {ends: true, abandoned: 1},
		"run ended with a limit":  {ends: true, options: workflow.StepOptions{AttemptTimeout: time.Hour}, abandoned: 1},
		"not waited for":          {options: workflow.StepOptions{OnCancel: workflow.TryCancel}, abandoned: 1},
		"left alone":              {options: workflow.StepOptions{OnCancel: workflow.Abandon}},
		"left alone with a limit": {options: workflow.StepOptions{OnCancel: workflow.Abandon, AttemptTimeout: 5 * time.Second}, abandoned: 1},
		"waited for":              {},
		"asked to end":            {options: workflow.StepOptions{AttemptTimeout: time.Hour}},
		"tx, attempt":             {tx: true, options: workflow.StepOptions{AttemptTimeout: time.Second, Retry: once1}, abandoned: 1},
		"tx, heartbeat":           {tx: true, options: workflow.StepOptions{HeartbeatTimeout: time.Second, Retry: once1}, abandoned: 1},
		"tx, asked to end":        {tx: true, options: workflow.StepOptions{AttemptTimeout: time.Hour}},
		"tx, asked and silent":    {tx: true, options: workflow.StepOptions{HeartbeatTimeout: 5 * time.Second}, abandoned: 1},
		"heedful":                 {heedful: true, options: workflow.StepOptions{AttemptTimeout: time.Second, Retry: once1}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				s := newGate()
				body := s.stubborn
				if tc.heedful {
					body = s.heedful
				}
				g.define("one", func(ctx workflow.Context) (string, error) {
					inner, cancel := workflow.WithTimeout(ctx, time.Second)
					defer cancel()
					if tc.ends {
						workflow.StepAsync(ctx, "a", body, &tc.options)
						return "", workflow.Sleep(ctx, time.Second)
					}
					if tc.tx {
						_, _ = workflow.StepTx(inner, "a", enter(s), &tc.options)
					} else {
						_, _ = workflow.Step(inner, "a", body, &tc.options)
					}
					return workflow.Signal[string]("word").Receive(ctx)
				})
				g.start("one")
				pass(time.Second + abandonedAfter - time.Millisecond)
				if n := g.hanging.Load(); n != 0 {
					t.Errorf("%d bodies are abandoned at once", n)
				}
				pass(time.Minute)
				if n := g.hanging.Load(); n != tc.abandoned {
					t.Errorf("%d bodies are abandoned, want %d:\n%s", n, tc.abandoned, strings.Join(g.log, "\n"))
				}
				s.open <- errors.New("at last")
				wait()
			})
		})
	}
}

// watchedContext calls seen when somebody asks whether it has ended.
type watchedContext struct {
	context.Context
	seen func()
}

func (c watchedContext) Err() error {
	err := c.Context.Err()
	c.seen()
	return err
}

// An attempt that comes to its end in the moment in which the watch sees that it has not is looked
// at again: else its body would keep its slot for ever.
func TestAbandonedWhileLookedAt(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		hung := g.sys.exec.hung
		slots := g.sys.exec.slots
		ctx, cancel := context.WithCancelCause(context.Background())
		a := &attempt{run: &journal.Run{}, sc: replay.StepContext{Step: "a"}, cancel: cancel}
		a.ctx = watchedContext{ctx, sync.OnceFunc(func() { hung.watch(a); cancel(ErrRunLost) })}
		a.goroutine.Store(goroutine.ID())
		slots.takeFree()
		hung.watch(a) // nobody waits for it, but it may go on
		pass(3 * abandonedAfter)
		if n := g.hanging.Load(); n != 1 {
			t.Errorf("%d bodies are abandoned, want 1", n)
		}
		if hung.returned(a) {
			t.Error("it has kept its slot")
		}
	})
}

// What is remembered of steps that hang ends some time after their bodies have: names of steps may
// be as many as there are runs.
func TestStepsThatHungAreForgotten(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		for i := range 3 {
			s := newGate()
			name := fmt.Sprint("hung", i)
			g.hangs(name, s)
			g.start(name)
			pass(2 * abandonedAfter)
			if n := len(g.sys.exec.hung.steps); n != 1 {
				t.Errorf("%d steps are remembered, want 1", n)
			}
			close(s.open)
			pass(abandonedEvery)
		}
	})
}

// Of many steps that hang at the same time each is reported, and one with the stack, which stops
// the world.
func TestManyStepsThatHang(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		for i := range 10 {
			name := fmt.Sprint("hung", i)
			g.hangs(name, s)
			g.start(name)
		}
		pass(2 * abandonedAfter)
		g.wantSaid("hangs of hung", 10)
		g.wantSaid(" at actor.(*gate).stubborn", 1)
		close(s.open)
		wait()
	})
}
