package actor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// using is enter for a body that uses its transaction.
func using(s *gate) func(context.Context, *memoryTx) (string, error) {
	return func(ctx context.Context, tx *memoryTx) (string, error) {
		if err := tx.use(ctx); err != nil {
			return "", err
		}
		return s.stubborn(ctx)
	}
}

func exclusive(g *rig) { g.store.writer = make(chan struct{}, 1) }

// While a body has borrowed the store its run takes no turn, and the next one ends the transaction,
// whatever else has happened meanwhile.
func TestTurnsWaitForABodyThatHasTheStore(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		exclusive(g)
		tx, beside, after := newGate(), newGate(), newGate()
		g.define("both", func(ctx workflow.Context) (string, error) {
			a := workflow.StepTxAsync(ctx, "a", using(tx), nil)
			workflow.Go(ctx, func(ctx workflow.Context) { _ = workflow.Sleep(ctx, time.Second) })
			if _, err := workflow.Step(ctx, "b", beside.heedful, nil); err != nil {
				return "", err
			}
			if _, err := workflow.Step(ctx, "c", after.heedful, nil); err != nil {
				return "", err
			}
			return a.Get(ctx)
		})
		id := g.start("both")
		<-tx.began
		beside.open <- nil
		wait()
		g.signal(id, "s", 1)
		pass(2 * time.Second) // the timer is due
		after.open <- nil
		if len(after.began) != 0 {
			t.Error("a turn was written past the transaction")
		}
		tx.open <- nil
		wait()
		g.wantTxs("committed")
		g.wantHistory(id, "RunStarted StepCompleted(a) StepCompleted(b) SignalReceived(s) TimerFired StepCompleted(c) RunCompleted")
	})
}

// A turn in flight comes before the body's first statement.
func TestABodyWaitsForTheTurnInFlight(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		exclusive(g)
		idle, tx, beside := newGate(), newGate(), newGate()
		g.define("both", func(ctx workflow.Context) (string, error) {
			a := workflow.StepTxAsync(ctx, "a", func(ctx context.Context, m *memoryTx) (string, error) {
				if _, err := idle.stubborn(ctx); err != nil {
					return "", err
				}
				return using(tx)(ctx, m)
			}, nil)
			if _, err := workflow.Step(ctx, "b", beside.heedful, nil); err != nil {
				return "", err
			}
			return a.Get(ctx)
		})
		hold := make(chan struct{})
		g.store.fate = func(*driver.Commit) error { <-hold; return nil }
		id := g.start("both")
		<-idle.began
		beside.open <- nil
		wait() // the turn is in flight
		idle.open <- nil
		if wait(); len(tx.began) != 0 {
			t.Error("the body has the store while a turn is in flight")
		}
		close(hold)
		wait()
		tx.open <- nil
		wait()
		g.wantTxs("committed")
		g.wantHistory(id, "RunStarted StepCompleted(b) StepCompleted(a) RunCompleted")
	})
}

// Bodies of one run get the store one after the other, one that fails makes room too, and one whose
// run was lost is told so.
func TestBodiesBorrowInTurn(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		exclusive(g)
		const n = 5
		s := newGate()
		g.define("many", func(ctx workflow.Context) (string, error) {
			var list []workflow.Future[string]
			for i := range n {
				list = append(list, workflow.StepTxAsync(ctx, fmt.Sprint(i), using(s), &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}))
			}
			for _, f := range list {
				_, _ = f.Get(ctx)
			}
			return "", nil
		})
		id := g.start("many")
		for i := range n {
			<-s.began
			if wait(); len(s.began) != 0 {
				t.Error("two bodies have the store")
			}
			var err error
			if i == 1 {
				err = errors.New("refused")
			}
			s.open <- err
		}
		wait()
		if g.task(id) != nil {
			t.Errorf("the run is open: %s", g.history(id))
		}
	})
}

// A body whose run is gone does not wait for it.
func TestABodyOfALostRunIsTold(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		exclusive(g)
		first, told, begun := newGate(), make(chan error, 1), make(chan struct{})
		g.define("two", func(ctx workflow.Context) (string, error) {
			workflow.StepTxAsync(ctx, "first", using(first), nil)
			return workflow.StepTx(ctx, "second", func(_ context.Context, tx *memoryTx) (string, error) {
				<-begun // either body may begin first
				err := tx.use(context.Background())
				told <- err
				return "", err
			}, nil)
		})
		g.start("two")
		<-first.began
		close(begun)
		wait()
		g.sys.Kill(ErrRunLost)
		wait()
		select {
		case err := <-told:
			if !errors.Is(err, ErrRunLost) {
				t.Errorf("got %v", err)
			}
		default:
			t.Error("it waits still")
		}
		first.open <- nil
		wait()
		g.wantTxs("rolled back", "rolled back")
	})
}
