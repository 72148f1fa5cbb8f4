package actor

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A late report does not make the shard take the actor away from a run that has got something
// since: the activation would be lost, and the node would own a run that it never looks at.
func TestStaleVacant(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("both", func(ctx workflow.Context) (string, error) {
			f := workflow.StepAsync(ctx, "a", s.heedful, nil)
			if _, err := workflow.Signal[string]("word").Receive(ctx); err != nil {
				return "", err
			}
			return f.Get(ctx)
		})
		id := g.start("both")
		<-s.began
		g.shardOf(id, vacant{run: id}) // sent before the activation, arrived after it
		g.signal(id, "word", "hello")
		g.wantHistory(id, "RunStarted SignalReceived(word)")
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted SignalReceived(word) StepCompleted(a) RunCompleted")
		g.wantLive(0)
	})
}

// A step that Kill has interrupted is not executed again by the system that is killed.
func TestKillStartsNothing(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		const runs = 50
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
		for range runs {
			g.start("one")
		}
		g.sys.Kill(ErrRunLost)
		wait()
		if n := len(s.began); n != runs {
			t.Errorf("%d attempts of %d steps", n, runs)
		}
	})
}

// J6: the answer of a commit tells of a message whose hint was lost. The run stays owned, so nobody
// else would look.
func TestCommitTellsOfMessages(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b := newGate(), newGate()
		g.define("three", func(ctx workflow.Context) (string, error) {
			fa, fb := workflow.StepAsync(ctx, "a", a.heedful, nil), workflow.StepAsync(ctx, "b", b.heedful, nil)
			if _, err := workflow.Signal[string]("word").Receive(ctx); err != nil {
				return "", err
			}
			if _, err := fa.Get(ctx); err != nil {
				return "", err
			}
			return fb.Get(ctx)
		})
		id := g.start("three")
		<-b.began
		g.store.send(id, "word", "hello") // and no hint
		a.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) SignalReceived(word)")
		b.open <- nil
		wait()
		g.wantLive(0)
	})
}

// The first turn of a later generation depends on the time at which it was taken, which is not in
// the start row. So nothing of it happens before it is stored.
func TestFirstTurnOfALaterGenerationIsStored(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s, commit := newGate(), make(chan struct{})
		g.define("again", func(ctx workflow.Context) (string, error) {
			if ctx.Info().Generation == 2 {
				return workflow.Step(ctx, "a", s.heedful, nil)
			}
			return "", workflow.ContinueAsNew(ctx, workflow.Name[int, string]("again"), 1, nil)
		})
		g.store.fate = func(c *driver.Commit) error {
			if c.Generation == 2 {
				<-commit
			}
			return nil
		}
		id := g.start("again")
		if n := len(s.began); n != 0 {
			t.Errorf("%d attempts before the turn that asked for the step was stored", n)
		}
		close(commit)
		wait()
		if n := len(s.began); n != 1 {
			t.Errorf("%d attempts, want 1", n)
		}
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
	})
}

// A transaction carries the commit that holds its step's outcome, so a turn takes at most one: the
// effects of a second one would be lost, and its outcome kept.
func TestOneTransactionATurn(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		a, b, c, commit := newGate(), newGate(), newGate(), make(chan struct{})
		g.define("three", func(ctx workflow.Context) (string, error) {
			fa, fb := workflow.StepTxAsync(ctx, "a", enter(a), nil), workflow.StepTxAsync(ctx, "b", enter(b), nil)
			if _, err := workflow.Step(ctx, "c", c.heedful, nil); err != nil {
				return "", err
			}
			if _, err := fa.Get(ctx); err != nil {
				return "", err
			}
			return fb.Get(ctx)
		})
		g.store.fate = func(*driver.Commit) error { <-commit; return nil }
		id := g.start("three")
		c.open <- nil
		wait() // its commit is in flight while both transactions end
		a.open <- nil
		wait()
		b.open <- nil
		wait()
		close(commit)
		wait()
		g.wantHistory(id, "RunStarted StepCompleted(c) StepCompleted(a) StepCompleted(b) RunCompleted")
		g.wantTxs("committed", "committed")
	})
}

// What an attempt says after it was given up is not taken for what the next one says.
func TestLateHeartbeat(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		open := make(chan struct{})
		var late []error
		second, other := newGate(), newGate()
		g.define("one", func(ctx workflow.Context) (string, error) {
			workflow.StepAsync(ctx, "b", other.heedful, nil) // so the run stays owned
			return workflow.Step(ctx, "a", func(ctx context.Context) (string, error) {
				if info, _ := workflow.StepInfo(ctx); info.Attempt == 1 {
					<-open // beyond its time
					late = append(late, workflow.Heartbeat(ctx, "of the first"))
					return "", nil
				}
				return second.heedful(ctx)
			}, &workflow.StepOptions{AttemptTimeout: time.Second, Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
		})
		id := g.start("one")
		pass(2 * time.Second)
		close(open)
		wait()
		if len(late) != 1 || late[0] != nil || len(second.began) != 1 {
			t.Fatalf("the first attempt said %v, %d attempts followed", late, len(second.began))
		}
		for _, a := range g.task(id).Attempts {
			if a.Heartbeat != nil {
				t.Errorf("the heartbeat of an attempt that was given up is kept: %s", a.Heartbeat.Data)
			}
		}
		second.open <- nil
		wait()
		g.wantLive(0)
	})
}

// The answer to a claim may come when the run is another's already, or this node's by a later claim
// of which nothing is known yet. Nothing of it is executed: the load tells.
func TestUnconfirmedOfAnother(t *testing.T) {
	for name, node := range map[string]journal.NodeID{"another node": 9, "a later claim": testNode} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				s := newGate()
				g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", s.heedful, nil) })
				id := g.create("one")
				outdated := g.claimed(id)
				g.store.claim(id, node)
				g.sys.ActivateUnconfirmed(outdated)
				wait()
				if n := len(s.began); n != 0 {
					t.Errorf("%d attempts", n)
				}
				g.wantLive(0)
			})
		})
	}
}
