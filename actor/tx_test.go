package actor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// enter is a transactional step that waits at a gate without looking at its context.
func enter(s *gate) func(context.Context, *memoryTx) (string, error) {
	return func(ctx context.Context, _ *memoryTx) (string, error) { return s.stubborn(ctx) }
}

func (g *rig) wantTxs(ends ...string) {
	g.t.Helper()
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	for i, tx := range g.store.txs {
		if i >= len(ends) || tx.fate() != ends[i] {
			g.t.Errorf("transaction %d ended with %q", i, tx.fate())
		}
	}
	if len(g.store.txs) != len(ends) {
		g.t.Errorf("%d transactions, want %d", len(g.store.txs), len(ends))
	}
}

// A step's transaction that nobody waits for any more is rolled back, whoever ended the wait.
func TestAbandonedTx(t *testing.T) {
	for name, abandon := range map[string]func(g *rig, other *gate){
		"the run closes":  func(_ *rig, other *gate) { other.open <- nil },
		"the run is lost": func(g *rig, other *gate) { g.store.fate = fenced; other.open <- nil },
		"the node dies":   func(g *rig, _ *gate) { g.sys.Kill(ErrRunLost) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				late, other := newGate(), newGate()
				g.define("leaves", func(ctx workflow.Context) (string, error) {
					workflow.StepTxAsync(ctx, "late", enter(late), nil)
					return workflow.Step(ctx, "other", other.heedful, nil)
				})
				g.start("leaves")
				<-late.began
				abandon(g, other)
				wait()
				late.open <- nil
				wait()
				g.wantTxs("rolled back")
			})
		})
	}
}

// TestRollbackThatTakesLong: on a connection that has fallen silent a rollback takes long. The body
// has returned when its context ended, so it is not reported as one that hangs.
func TestRollbackThatTakesLong(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("slow", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "a", func(ctx context.Context, tx *memoryTx) (string, error) {
				tx.back = 2 * abandonedAfter
				<-ctx.Done()
				return "", ctx.Err()
			}, &workflow.StepOptions{AttemptTimeout: time.Second, Retry: once1})
		})
		g.start("slow")
		pass(time.Second + 2*abandonedAfter - time.Millisecond)
		g.wantTxs("")
		if n := g.hanging.Load(); n != 0 {
			t.Errorf("%d bodies are abandoned", n)
		}
		pass(time.Second)
		g.wantTxs("rolled back")
	})
}

// A transaction that could not be begun, because the store was not there, used no attempt of its
// step: the body was never called. The step begins when the store is back, however many of its time
// limits have passed.
func TestBeginThatFailsIsNoAttempt(t *testing.T) {
	for name, limit := range map[string]time.Duration{"without a limit": 0, "with a limit of an attempt": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				g.store.refuse = fmt.Errorf("%w: too many clients", journal.ErrUnavailable)
				s := newGate()
				g.define("enters", func(ctx workflow.Context) (string, error) {
					return workflow.StepTx(ctx, "enter", enter(s),
						&workflow.StepOptions{AttemptTimeout: limit, Retry: &workflow.RetryPolicy{Attempts: 1}})
				})
				id := g.start("enters")
				time.Sleep(5 * time.Second)
				g.wantTxs()
				g.store.mu.Lock()
				g.store.refuse = nil
				g.store.mu.Unlock()
				<-s.began
				s.open <- nil
				wait()
				g.wantTxs("committed")
				if task := g.task(id); task != nil {
					t.Errorf("the run is open: %+v", task)
				}
				g.wantSaid("retry", 0)
			})
		})
	}
}

// A step whose transaction does not begin is reported after a while, once, and goes on when it
// does.
func TestBeginThatTakesLongIsReported(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.store.refuse = fmt.Errorf("%w: all places are taken", journal.ErrUnavailable)
		s := newGate()
		g.define("enters", func(ctx workflow.Context) (string, error) { return workflow.StepTx(ctx, "enter", enter(s), nil) })
		g.start("enters")
		time.Sleep(txWaitsAfter - time.Millisecond)
		g.wantSaid("tx waits", 0)
		time.Sleep(time.Minute)
		g.wantSaid("tx waits", 1)
		g.store.mu.Lock()
		g.store.refuse = nil
		g.store.mu.Unlock()
		<-s.began
		s.open <- nil
		wait()
		g.wantTxs("committed")
		time.Sleep(time.Minute)
		g.wantSaid("tx waits", 1)
	})
}

// What a step could not begin for another reason is a failure of the step.
func TestBeginThatIsRefusedIsAFailure(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.store.refuse = fmt.Errorf("begin: %w", journal.ErrInvalid)
		g.define("enters", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "enter", enter(newGate()), &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
		})
		id := g.start("enters")
		time.Sleep(time.Minute)
		if task := g.task(id); task != nil {
			t.Errorf("the run is open: %+v", task)
		}
	})
}

func fenced(*driver.Commit) error { return journal.ErrFenced }

// A transaction that is lost before it commits is a failed attempt: nothing of its turn happened.
func TestLostTxRunsAgain(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) { return workflow.StepTx(ctx, "a", enter(s), nil) })
		g.store.fate = once(journal.ErrTxLost)
		id := g.start("one")
		s.open <- nil
		s.open <- nil
		wait()
		g.wantHistory(id, "RunStarted") // the start rides with the retry
		g.wantSaid("retry a 1", 1)
		g.wake(id)
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		g.wantTxs("rolled back", "committed")
	})
}

// once refuses the first commit with a transaction.
func once(err error) func(*driver.Commit) error {
	done := false
	return func(c *driver.Commit) error {
		if done || c.Tx == nil {
			return nil
		}
		done = true
		return err
	}
}

// A transaction that can never commit, as with a deferred constraint, is not tried without a pause.
func TestTxThatNeverCommits(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("one", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "a", func(context.Context, *memoryTx) (string, error) { return "", nil },
				&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Attempts: 3}})
		})
		g.store.fate = func(c *driver.Commit) error {
			if len(g.store.txs) > 10 {
				return journal.ErrFenced // enough
			}
			if c.Tx != nil {
				return journal.ErrTxLost
			}
			return nil
		}
		id := g.start("one")
		g.wake(id)
		g.wake(id)
		g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
		g.wantTxs("rolled back", "rolled back", "rolled back")
	})
}

// A turn that is lost with its transaction leaves other steps as they were.
func TestLostTxUndoesCancels(t *testing.T) {
	for name, waits := range map[string]bool{"of a running step": false, "of a step in retry": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				a, b := newGate(), newGate()
				tries := 0
				g.define("race", func(ctx workflow.Context) (string, error) {
					inner, cancel := workflow.WithCancel(ctx)
					fb := workflow.StepAsync(inner, "b", func(ctx context.Context) (string, error) {
						if tries++; tries == 1 && waits {
							return "", errors.New("not yet")
						}
						return b.heedful(ctx)
					}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Minute, Jitter: -1}})
					if _, err := workflow.StepTx(ctx, "a", enter(a), &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}); err == nil {
						cancel()
					}
					return fb.Get(ctx)
				})
				g.store.fate = once(journal.ErrTxLost)
				id := g.start("race")
				<-a.began
				a.open <- nil // the turn in which b is cancelled is lost; a has no second attempt
				wait()
				b.open <- nil
				wait()
				pass(2 * time.Minute)
				if g.task(id) != nil {
					g.wake(id)
				}
				g.wantHistory(id, "RunStarted StepFailed(a) StepCompleted(b) RunCompleted")
			})
		})
	}
}

// A step that cannot begin its transaction is out of time like any other: while the store refuses
// new transactions it does not wait for ever.
func TestATxThatDoesNotBeginIsOutOfTime(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.store.refuse = fmt.Errorf("%w: no connection is free", journal.ErrUnavailable)
		g.define("late", func(ctx workflow.Context) (string, error) {
			return workflow.StepTx(ctx, "tx", enter(newGate()), &workflow.StepOptions{Timeout: 10 * time.Second})
		})
		id := g.start("late")
		pass(9 * time.Second)
		g.wantHistory(id, "")
		pass(2 * time.Second)
		g.wantHistory(id, "RunStarted StepFailed(tx) RunFailed")
	})
}
