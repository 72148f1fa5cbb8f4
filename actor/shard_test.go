package actor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// actors counts the actors of runs: each is known to the library's registry, beside those of the
// system itself.
func (g *rig) actors() int {
	n := -g.idleActors - int(g.sys.spare.Load())
	for _, bucket := range g.sys.proto.ProcessRegistry.LocalPIDs.LocalPIDs {
		n += bucket.Count()
	}
	return n
}

// shardOf sends to the shard of a run, as the run itself does.
func (g *rig) shardOf(id journal.RunID, msg any) {
	g.sys.toShard(id, msg)
	wait()
}

// A hint that crosses the report of an idle run makes the run report again; no actor stays for
// ever.
func TestHintsDoNotKeepActors(t *testing.T) {
	bubble(t, func(o *Options) { o.WarmIdle = time.Minute }, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		g.define("ears", func(ctx workflow.Context) (string, error) { return workflow.Signal[string]("word").Receive(ctx) })
		closing, parking := g.start("one"), g.start("ears")
		// The hint is forwarded before the shard hears that the run has closed.
		g.store.fate = func(c *driver.Commit) error {
			g.sys.Attend(closing)
			g.sys.Attend(parking)
			return nil
		}
		s.open <- nil
		wait()
		for range 5 {
			pass(time.Minute)
			g.sys.Attend(parking)
			g.sys.Attend(closing)
		}
		pass(5 * time.Minute)
		if n := g.actors(); n != 0 {
			t.Errorf("%d actors stay", n)
		}
	})
}

// J6: a late report does not make the shard take an active run for a parked one.
func TestStaleParked(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("both", func(ctx workflow.Context) (string, error) {
			f := workflow.StepAsync(ctx, "a", s.heedful, nil)
			word, err := workflow.Signal[string]("word").Receive(ctx)
			if err != nil {
				return "", err
			}
			if _, err := f.Get(ctx); err != nil {
				return "", err
			}
			return word, nil
		})
		id := g.start("both")
		<-s.began
		g.shardOf(id, parked{run: id}) // sent before the activation, arrived after it
		g.signal(id, "word", "hello")
		g.wantHistory(id, "RunStarted SignalReceived(word)")
		s.open <- nil
		wait()
		g.wantLive(0)
	})
}

// A run that cannot be blocked because the store refuses everything is not forgotten: its owner
// tries again.
func TestRefusedBlock(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("one", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(context.Context) (string, error) { return "x", nil }, nil)
		})
		refused := 0
		g.store.fate = func(*driver.Commit) error {
			if refused++; refused <= 5 {
				return errors.New("the disk is on fire")
			}
			return nil
		}
		id := g.start("one")
		g.wantLive(1)
		pass(time.Minute)
		if got := g.task(id); got.State != journal.Blocked || got.Owner != 0 {
			t.Errorf("task is %s, owned by %d, after %d refusals", got.State, got.Owner, refused)
		}
		g.wantLive(0)
	})
}

// What blocks a run can be stored, whatever a panic said.
func TestProblemIsText(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("rude", func(workflow.Context) (string, error) { panic("\xff\x00" + string(make([]byte, 1<<20))) })
		id := g.start("rude")
		p := g.task(id).Problem
		if p == "" || len(p) > 64<<10 {
			t.Errorf("problem has %d bytes", len(p))
		}
		if strings.ContainsRune(p, 0) || !utf8.ValidString(p) {
			t.Error("problem is not text")
		}
	})
}

// A run that commits between its panics starts its back-off anew.
func TestBackoffOfBlocks(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		bad := true
		g.define("moody", func(ctx workflow.Context) (string, error) {
			word, err := workflow.Signal[string]("word").Receive(ctx)
			if err != nil {
				return "", err
			}
			if bad {
				panic("not today")
			}
			workflow.Signal[string]("more").Receive(ctx)
			panic("not tomorrow: " + word)
		})
		id := g.start("moody")
		g.signal(id, "word", "x")
		g.claim(id)
		g.claim(id)
		g.wantSaid("blocked in 1s", 1)
		g.wantSaid("blocked in 2s", 1)
		bad = false
		g.claim(id) // parks
		g.signal(id, "more", "x")
		g.claim(id)
		g.wantSaid("blocked in 1s", 2)
	})
}

// The back-off of a run that stays blocked reaches its bound although parked runs leave memory
// sooner, and in the end its actor leaves as well.
func TestBackoffOfBlocksGrows(t *testing.T) {
	bubble(t, func(o *Options) { o.WarmIdle = time.Minute }, func(g *rig) {
		g.define("broken", func(workflow.Context) (string, error) { panic("as always") })
		id := g.start("broken")
		for range 10 {
			g.wake(id)
		}
		g.wantSaid("blocked in 5m0s", 2)
		pass(time.Hour)
		if n := g.actors(); n != 0 {
			t.Errorf("%d actors stay", n)
		}
	})
}

// Parked runs beyond WarmMax leave memory at once, blocked ones too.
func TestWarmMax(t *testing.T) {
	bubble(t, func(o *Options) { o.WarmMax = 1 }, func(g *rig) {
		g.define("broken", func(workflow.Context) (string, error) { panic("as always") })
		g.define("ears", func(ctx workflow.Context) (string, error) { return workflow.Signal[string]("word").Receive(ctx) })
		for range 10 {
			g.start("broken")
			g.start("ears")
		}
		if n := g.actors(); n != 0 {
			t.Errorf("%d actors stay", n)
		}
	})
}

// A killed system ends everything, writes nothing more and does not wait for bodies that ignore
// their context.
func TestKill(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		heeds, ignores := newGate(), newGate()
		g.define("heeds", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", heeds.heedful, nil) })
		g.define("ignores", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", ignores.stubborn, nil) })
		g.start("heeds")
		g.start("ignores")
		began := time.Now()
		g.sys.Kill(ErrRunLost)
		if took := time.Since(began); took > 2*killGrace {
			t.Errorf("the kill took %s", took)
		}
		g.wantLive(0)
		g.wantSaid("released", 2)
		g.wantSaid("lost", 0)
		if len(heeds.began) != 1 || len(g.store.commits) != 0 {
			t.Errorf("%d attempts and %d commits", len(heeds.began), len(g.store.commits))
		}
		ignores.open <- nil
		wait()
	})
}
