package actor

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// holding is what the store says of an owned run.
func (g *rig) holding(id journal.RunID) driver.Holding {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	r := g.store.runs[id]
	h := driver.Holding{Run: id, Generation: r.task.Generation, Fence: r.task.Fence, Confirmed: r.task.Turn > 0}
	if n := len(r.events); n > 0 {
		h.Head = journal.Head{Seq: r.events[n-1].Seq, Link: r.events[n-1].Link}
	}
	return h
}

// compare makes the system compare itself with a list that was read just now.
func (g *rig) compare(list ...driver.Holding) {
	pass(time.Millisecond)
	g.sys.Compare(list, time.Now())
	wait()
}

// twoSteps is a run that has committed its first step and executes the second.
func twoSteps(g *rig) (id journal.RunID, second *gate) {
	first, second := newGate(), newGate()
	g.define("two", func(ctx workflow.Context) (string, error) {
		if _, err := workflow.Step(ctx, "a", first.heedful, nil); err != nil {
			return "", err
		}
		return workflow.Step(ctx, "b", second.heedful, nil)
	})
	id = g.start("two")
	first.open <- nil
	<-second.began
	wait()
	return id, second
}

// A comparison that finds the run as it is changes nothing.
func TestCompareAgrees(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		id, second := twoSteps(g)
		g.compare(g.holding(id))
		g.wantSaid("stray", 0)
		g.wantSaid("lost", 0)
		second.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// A run is given up that the store has in another state, or not at all; and what the store has and
// nobody runs is astray.
func TestCompareFindsWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change      func(h *driver.Holding)
		lost, stray int
	}{
		"another head":    {func(h *driver.Holding) { h.Head.Link++ }, 1, 1},
		"fewer events":    {func(h *driver.Holding) { h.Head.Seq-- }, 1, 1},
		"no event":        {func(h *driver.Holding) { h.Head = journal.Head{} }, 1, 1},
		"another fence":   {func(h *driver.Holding) { h.Fence-- }, 1, 1},
		"generation":      {func(h *driver.Holding) { h.Generation++ }, 1, 1},
		"another run":     {func(h *driver.Holding) { h.Run = journal.NewRunID() }, 1, 1},
		"nothing differs": {func(*driver.Holding) {}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				id, _ := twoSteps(g)
				h := g.holding(id)
				c.change(&h)
				g.compare(h)
				g.wantSaid("lost", c.lost)
				g.wantSaid("stray", c.stray)
				why := ErrOtherState
				if h.Run != id {
					why = ErrNotOwned
				}
				g.wantSaid("lost: "+why.Error(), c.lost)
				g.wantLive(1 - c.lost)
			})
		})
	}
}

// What has happened since the list was asked for says nothing against a run.
func TestCompareIsOutdated(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		asked := time.Now()
		pass(time.Millisecond)
		id, second := twoSteps(g)
		g.sys.Compare(nil, asked)
		wait()
		g.wantSaid("lost", 0)
		answer := make(chan struct{})
		g.store.mu.Lock()
		g.store.late = func(*driver.Commit) { <-answer }
		g.store.mu.Unlock()
		second.open <- nil
		wait()
		g.compare() // the commit is in flight, and proves its owner itself
		g.wantSaid("lost", 0)
		close(answer)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// A parked run that the store says is owned is astray, whether it is warm or not.
func TestCompareParked(t *testing.T) {
	for _, passivate := range []bool{false, true} {
		bubble(t, func(o *Options) { o.PassivateAlways = passivate }, func(g *rig) {
			g.define("ears", func(ctx workflow.Context) (string, error) { return workflow.Signal[string]("word").Receive(ctx) })
			id := g.start("ears")
			g.compare(g.holding(id))
			g.wantSaid("stray", 1)
			g.signal(id, "word", "hello")
			g.claim(id)
			g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
		})
	}
}

// So it is if the claim overtakes the answer of the commit that has freed the task.
func TestWarmInboxOfAnOvertakenCommit(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) {
			return workflow.Signal[string]("word").Receive(ctx)
		})
		id := g.start("ears")
		answer := make(chan struct{})
		g.store.mu.Lock()
		r := g.store.runs[id]
		r.task.InboxLast++
		r.inbox = append(r.inbox, journal.Message{Run: id, Number: r.task.InboxLast, Kind: journal.MessageUpdate, Name: "nobody", Time: time.Now()})
		g.store.late = func(*driver.Commit) { <-answer }
		g.store.mu.Unlock()
		g.claim(id)
		if now := g.task(id); now.Owner != 0 {
			t.Fatalf("the commit that frees the task is not written: %+v", now)
		}
		g.wantSaid("replayed 1", 0)
		g.store.mu.Lock()
		g.store.late = nil
		g.store.mu.Unlock()
		g.signal(id, "word", "hello")
		g.claim(id)
		g.wantSaid("replayed 1", 1)
		close(answer)
		wait()
		g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
	})
}

// A claim whose fence is not larger is taken all the same: the store counts from an earlier time.
func TestClaimAfterTheStoreWentBack(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		id, second := twoSteps(g)
		g.store.mu.Lock()
		g.store.runs[id].task.Fence = 5
		g.store.mu.Unlock()
		g.sys.Activate(g.claimed(id))
		wait()
		g.wantLive(1)
		<-second.began
		second.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
	})
}

// An interrupt gives up what executes steps, lets nothing start until Resume, and leaves other runs
// alone.
func TestInterrupt(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		id, second := twoSteps(g)
		s := newGate()
		g.define("retry", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "c", s.heedful, nil)
		})
		g.sys.Interrupt(ErrRunLost)
		wait()
		g.wantSaid("lost", 1)
		g.wantLive(0)
		other := g.start("retry")
		g.wantLive(1)
		if n := len(s.began); n != 0 {
			t.Errorf("%d steps began after the interrupt", n)
		}
		g.sys.Resume()
		wait()
		<-s.began
		s.open <- nil
		g.claim(id)
		<-second.began
		second.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) RunCompleted")
		g.wantHistory(other, "RunStarted StepCompleted(c) RunCompleted")
	})
}

// Commits that do nothing but add events say so, from the second under a fence on.
func TestAppendOnly(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		first, second := newGate(), newGate()
		g.define("four", func(ctx workflow.Context) (string, error) {
			for _, s := range []*gate{first, second} {
				if _, err := workflow.Step(ctx, "a", s.heedful, nil); err != nil {
					return "", err
				}
			}
			word, err := workflow.Signal[string]("word").Receive(ctx)
			if err != nil {
				return "", err
			}
			if _, err := workflow.Step(ctx, "b", first.heedful, nil); err != nil {
				return "", err
			}
			_, err = workflow.Step(ctx, "c", second.heedful, nil)
			return word, err
		})
		id := g.start("four")
		for range 2 { // the second outcome arrives with a message
			first.open <- nil
			wait()
			if g.task(id).InboxLast == 0 {
				g.signal(id, "word", "hello")
			}
			second.open <- nil
			wait()
		}
		g.wantHistory(id, "RunStarted StepCompleted(a) SignalReceived(word) StepCompleted(a) StepCompleted(b) StepCompleted(c) RunCompleted")
		var got []bool
		for _, c := range g.store.written() {
			got = append(got, c.AppendOnly)
			if n := len(c.Consumed); n > 0 != (c.InboxSeen > 0 && n == 1 && c.Consumed[0].Number == 1) {
				t.Errorf("consumed %v", c.Consumed)
			}
		}
		want := []bool{false, false, true, true, false} // first under its fence; consumes; appends; appends; closes
		if len(got) != len(want) {
			t.Fatalf("%d commits, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("commit %d: append only %v, want %v", i, got[i], want[i])
			}
		}
	})
}

// A commit that adds nothing but the first event of a run does not prove the owner: each owner
// writes the same one, and the store may have gone back to before this one was. Nor does one of an
// earlier generation.
func TestFirstEventProvesNothing(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		work := newGate()
		g.define("tells", func(ctx workflow.Context) (string, error) {
			knock.SendAsync(ctx, journal.RunID{1}, 1)
			for range 3 {
				if _, err := workflow.Step(ctx, "a", work.heedful, nil); err != nil {
					return "", err
				}
			}
			return "", nil
		})
		id := g.start("tells")
		for range 3 {
			wait()
			work.open <- nil
		}
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(a) StepCompleted(a) RunCompleted")
		var got []bool
		for _, c := range g.store.written() {
			got = append(got, c.AppendOnly)
		}
		if want := []bool{false, false, true, false}; !slices.Equal(got, want) {
			t.Errorf("append only: %v, want %v", got, want)
		}
	})
}

// A turn that changes what is stored of steps in retry changes the task.
func TestAttemptsAreNotAppendOnly(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("retry", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "first", a.heedful, nil); err != nil {
				return "", err
			}
			f := workflow.StepAsync(ctx, "fails", a.heedful, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour}})
			if _, err := workflow.Step(ctx, "goes on", b.heedful, nil); err != nil {
				return "", err
			}
			if _, err := workflow.Step(ctx, "further", b.heedful, nil); err != nil {
				return "", err
			}
			return f.Get(ctx)
		})
		id := g.start("retry")
		a.open <- nil
		wait()
		a.open <- errors.New("no")
		wait()
		b.open <- nil
		wait()
		if n := len(g.task(id).Attempts); n != 1 {
			t.Errorf("%d attempts are stored, want 1", n)
		}
		for i, c := range g.store.written() {
			if len(c.Attempts) > 0 && c.AppendOnly {
				t.Errorf("commit %d stores attempts and says that it only adds events", i)
			}
		}
	})
}

// A stored event without a link was not written by us, and blocks the run.
func TestEventWithoutLinkBlocks(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = true }, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) { return workflow.Signal[string]("word").Receive(ctx) })
		id := g.start("ears")
		g.store.mu.Lock()
		g.store.runs[id].events[0].Link = 0
		g.store.mu.Unlock()
		g.signal(id, "word", "hello")
		g.sys.Activate(g.store.claim(id, testNode))
		wait()
		g.wantSaid("event 1 (RunStarted) has the link 0", 1)
	})
}
