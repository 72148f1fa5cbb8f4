package actor

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

func (g *rig) wantRoom(want int) {
	g.t.Helper()
	if got := g.sys.Room(); got != want {
		g.t.Errorf("room for %d runs, want %d", got, want)
	}
}

// The room is for as many runs as there are free slots, less those that come or wait.
func TestRoomIsWhatCanBeWorkedOn(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 3 }, func(g *rig) {
		s := newGate()
		g.stepWith(nil, s.heedful)
		g.wantRoom(3)
		answer := holdLoads(g)
		id := g.create("one")
		c := g.claimed(id)
		c.Task.Turn, c.Task.InboxLast = 1, 1 // so that it must be loaded
		g.sys.Activate(c)
		wait()
		g.wantRoom(2)
		pass(2 * newcomerTime)
		g.wantRoom(2) // of this cohort, looked at for the first time since
		pass(2 * newcomerTime)
		g.wantRoom(3) // a load that hangs does not keep a place
		close(answer)
		wait()
		g.wantRoom(2) // it executes its step
		for range 3 {
			g.start("one")
		}
		g.wantRoom(-1) // one waits
		for range 4 {
			s.open <- nil
		}
		pass(10 * leadTime)
		g.sys.Room()
		pass(leadTime)
		g.wantRoom(3)
	})
}

// A node whose slots become free often has a lead: it may own what they will be free for.
func TestLeadFollowsThePace(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 4 }, func(g *rig) {
		g.define("busy", func(ctx workflow.Context) (string, error) {
			for {
				if _, err := workflow.Step(ctx, "a", nap(50*time.Millisecond), nil); err != nil {
					return "", err
				}
			}
		})
		for range 4 {
			g.start("busy")
		}
		g.wantRoom(0)
		pass(leadTime - time.Millisecond)
		g.wantRoom(0)
		pass(leadTime)
		g.wantRoom(4) // eight slots in that time, and no more than there are
	})
}

// The lead is for the time of a claim, however long ago somebody asked last.
func TestLeadIsForTheTimeOfAClaim(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 4 }, func(g *rig) {
		g.define("busy", func(ctx workflow.Context) (string, error) {
			for {
				if _, err := workflow.Step(ctx, "a", nap(50*time.Millisecond), nil); err != nil {
					return "", err
				}
			}
		})
		g.wantRoom(4)
		g.start("busy")
		pass(10*leadTime + time.Millisecond)
		g.wantRoom(3 + 1) // 20 slots in somewhat more than ten times that time
	})
}

// An activation that is over, or that was told before, is no newcomer.
func TestNewcomersThatAreOverLeave(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 3 }, func(g *rig) {
		g.start("nobody knows this one")
		g.wantSaid("blocked", 1)
		g.wantRoom(3)
		g.stepWith(nil, nap(time.Minute))
		id := g.start("one")
		g.wantRoom(2)
		g.sys.Activate(g.claimed(id))
		wait()
		g.wantRoom(2)
	})
}

// roomier is told when a slot or a newcomer makes room.
func TestRoomIsTold(t *testing.T) {
	var told atomic.Int64
	bubble(t, func(o *Options) { o.Hooks.Room = func() { told.Add(1) } }, func(g *rig) {
		s := newGate()
		g.stepWith(nil, s.heedful)
		g.start("one")
		if n := told.Load(); n != 1 {
			t.Errorf("told %d times of a newcomer that began, want once", n)
		}
		s.open <- nil
		wait()
		if n := told.Load(); n != 2 {
			t.Errorf("told %d times, want once more for the slot", n)
		}
	})
}

// Retries without a delay are spaced over all runs of the node, from the fourth of a step on.
func TestInstantRetriesAreSpaced(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		const runs = 100
		var tries atomic.Int64
		g.stepWith(&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 1, Factor: 1, Max: 1, Jitter: -1}},
			func(context.Context) (string, error) { tries.Add(1); return "", errors.New("down") })
		claims := func(c *driver.Commit) {
			if c.Next.Kind == driver.NextPark { // as a node with room does
				go func() {
					time.Sleep(max(time.Until(c.Next.At), 0) + time.Millisecond)
					g.sys.Activate(g.store.claim(c.Run, testNode))
				}()
			}
		}
		g.store.late = claims
		for range runs {
			g.start("one")
		}
		pass(10 * time.Second)
		if got := tries.Load() - runs*(1+retryFree); got < 3000 || got > 5200 {
			t.Errorf("%d spaced retries in 10 s, want about 5000", got)
		}
		g.store.mu.Lock()
		g.store.late = nil
		g.store.mu.Unlock()
		pass(time.Second)
	})
}

// One step whose policy has no delay is tried a few times at once, then ten times a second.
func TestInstantRetriesOfOneStep(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		tries := 0
		g.stepWith(&workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: time.Millisecond}},
			func(context.Context) (string, error) { tries++; return "", errors.New("down") })
		id := g.start("one")
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			g.wake(id)
		}
		if most := 1 + retryFree + int(10*time.Second/retryFloor); tries < most*9/10 || tries > most {
			t.Errorf("%d attempts in 10 s, want about %d", tries, most)
		}
	})
}

// A policy that waits is followed, and a deadline too.
func TestPaceKeepsPoliciesAndDeadlines(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		p := newRetryPace()
		for range 1000 {
			p.space(retryFree+1, 1)
		}
		if got := p.space(retryFree+1, 1); got > 1000*retryEvery+retryTick || got < 1000*retryEvery {
			t.Errorf("the thousandth retry waits %s", got)
		}
		if got := p.space(retryFree+1, time.Second); got != time.Second {
			t.Errorf("a retry whose policy says a second waits %s", got)
		}
		if got := newRetryPace().space(retryFree+1, 1); got != retryFloor {
			t.Errorf("the first spaced retry waits %s", got)
		}
		if got := newRetryPace().space(retryFree+1, retrySlow/2); got != retrySlow/2 {
			t.Errorf("a retry whose policy says %s waits %s", retrySlow/2, got)
		}
		g.sys.pace.lanes[retryFree].Store(int64(time.Hour / retryEvery))
		g.stepWith(&workflow.StepOptions{Timeout: time.Minute, Retry: &workflow.RetryPolicy{Initial: 1, Factor: 1, Max: 1, Jitter: -1}},
			func(context.Context) (string, error) { return "", errors.New("down") })
		id := g.start("one")
		for g.task(id) != nil { // each of the first retries, then the deadline
			g.wake(id)
		}
		if took := time.Since(g.store.runs[id].run.StartAt); took > time.Minute+time.Second {
			t.Errorf("the step ended after %s", took)
		}
		g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
	})
}

// First retries come when their policies say until there have been many more of them than
// successes. Then they are spaced, in ticks, behind those of other steps that have failed as often.
func TestManyFirstRetriesAreSpaced(t *testing.T) {
	bubble(t, nil, func(*rig) {
		p := newRetryPace()
		for range creditMax {
			if got := p.space(1, 1); got != 1 {
				t.Fatalf("a retry with a credit waits %s", got)
			}
		}
		const n = 2000
		due := map[time.Duration]int{}
		for range n {
			due[p.space(1, 1)]++
		}
		if want := n * int(retryEarlyEvery) / int(retryTick); len(due) != want {
			t.Errorf("%d retries are due at %d times, want %d", n, len(due), want)
		}
		if got := p.space(2, 1); got > retryTick {
			t.Errorf("a second retry waits %s, behind first ones", got)
		}
		if got := p.space(retryFree+1, 1); got != retryFloor {
			t.Errorf("a late retry waits %s, behind first ones", got)
		}
		if got := p.space(1, 1); got < n*retryEarlyEvery || got > n*retryEarlyEvery+retryTick {
			t.Errorf("the next first retry waits %s", got)
		}
		p.succeeded()
		if got := p.space(1, 1); got != 1 {
			t.Errorf("with the credit of a success it waits %s", got)
		}
		time.Sleep(time.Hour)
		if got := p.space(1, 1); got > retryTick {
			t.Errorf("after a quiet hour it waits %s", got)
		}
	})
}

// Steps that succeed let as many others retry at once.
func TestSuccessesAreCredits(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.sys.pace.credits.Store(0)
		g.stepWith(nil, func(context.Context) (string, error) { return "", nil })
		g.start("one")
		g.start("one")
		if n := g.sys.pace.credits.Load(); n != 2 {
			t.Errorf("%d credits after two successes", n)
		}
		g.sys.pace.credits.Store(creditMax)
		g.start("one")
		if n := g.sys.pace.credits.Load(); n != creditMax {
			t.Errorf("%d credits, the limit is %d", n, creditMax)
		}
	})
}
