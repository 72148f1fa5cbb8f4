package actor

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A run whose last owners died commits once when this one has lived for the time of a trial, so
// that its strikes are wiped out although it executes one long step. Any other run writes nothing
// meanwhile, nor does one that has committed by itself.
func TestSurvivorIsAcquitted(t *testing.T) {
	for strikes, want := range map[int]int{0: 0, 1: 1, driver.SuspectStrikes + 1: 1} {
		bubble(t, nil, func(g *rig) {
			a := newGate()
			g.define("long", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", a.heedful, nil) })
			id := g.create("long")
			g.store.runs[id].task.Strikes = strikes
			g.sys.Activate(g.claimed(id))
			wait()
			pass(driver.TrialTime - time.Second)
			if n := len(g.store.written()); n != 0 {
				t.Errorf("%d strikes: %d commits before the end of the trial", strikes, n)
			}
			pass(time.Hour)
			if n := len(g.store.written()); n != want {
				t.Errorf("%d strikes: %d commits in an hour, want %d", strikes, n, want)
			}
			for _, c := range g.store.written() {
				if c.Next.Kind != driver.NextKeep || c.AppendOnly {
					t.Errorf("%d strikes: commit %+v", strikes, c)
				}
			}
			a.open <- nil
			wait()
			g.wantLive(0)
		})
	}
}

// The node hears of each suspect that has committed, once, and of nobody else.
func TestAcquittalsAreTold(t *testing.T) {
	for strikes, want := range map[int]int{0: 0, driver.SuspectStrikes - 1: 0, driver.SuspectStrikes: 1} {
		var told []journal.RunID
		bubble(t, func(o *Options) { o.Hooks.Acquitted = func(run journal.RunID) { told = append(told, run) } }, func(g *rig) {
			a := newGate()
			g.define("two", func(ctx workflow.Context) (string, error) {
				if _, err := workflow.Step(ctx, "a", a.heedful, nil); err != nil {
					return "", err
				}
				return workflow.Step(ctx, "b", a.heedful, nil)
			})
			id := g.create("two")
			g.store.runs[id].task.Strikes = strikes
			g.sys.Activate(g.claimed(id))
			wait()
			if len(told) > 0 {
				t.Errorf("%d strikes: %v before its commit", strikes, told)
			}
			a.open <- nil
			wait()
			a.open <- nil
			wait()
			if g.wantLive(0); len(told) != want || want == 1 && told[0] != id {
				t.Errorf("%d strikes: told of %v", strikes, told)
			}
		})
	}
}

func TestCommitEndsTheTrial(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "a", a.heedful, nil); err != nil {
				return "", err
			}
			return workflow.Step(ctx, "b", b.heedful, nil)
		})
		id := g.create("two")
		g.store.runs[id].task.Strikes = 2
		g.sys.Activate(g.claimed(id))
		wait()
		pass(driver.TrialTime / 2)
		a.open <- nil
		wait()
		pass(time.Hour)
		if n := len(g.store.written()); n != 1 {
			t.Errorf("%d commits, want that of the first step alone", n)
		}
		b.open <- nil
		wait()
		g.wantLive(0)
	})
}

// A suspect that waits for a slot has not been tried. It stays where it is, writes nothing, and its
// trial begins when its step does.
func TestTrialBeginsWithTheStep(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		a := newGate()
		g.stepWith(nil, a.heedful)
		g.start("one") // has the slot
		id := g.create("one")
		g.store.runs[id].task.Strikes = driver.SuspectStrikes
		g.sys.Activate(g.claimed(id))
		pass(2*driver.TrialTime - driver.TrialTime/4)
		if n := len(g.store.written()); n != 0 {
			t.Errorf("%d commits while the suspect waits for a slot", n)
		}
		g.wantGivenBack(id, false)
		a.open <- nil
		pass(driver.TrialTime - quantum)
		if n := len(g.store.written()); n != 1 {
			t.Errorf("%d commits before the end of the trial, want that of the other run", n)
		}
		pass(2 * quantum)
		if n := len(g.store.written()); n != 2 {
			t.Errorf("%d commits after the trial, want one more", n)
		}
		a.open <- nil
		wait()
		g.wantLive(0)
	})
}
