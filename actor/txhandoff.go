package actor

import (
	"context"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// txHandoff passes the open transaction of a step from its attempt to its run, which commits it
// together with the step's outcome.
//
// The two race. The attempt may finish when the run has stopped waiting for it: the run was lost,
// or closed, or nobody waits for the step any more. Such a run never gets the attempt's answer, or
// ignores it by its epoch, and a transaction that nobody ends holds its locks and its connection.
// So whoever comes second to the handoff ends the transaction: put returns false if the run has
// abandoned it before, and abandon returns what was put before. Exactly one of the two sees both.
//
// A nil *txHandoff belongs to a step without a transaction: it hands nothing off.
type txHandoff struct {
	gone      chan struct{} // closed by abandon
	mu        sync.Mutex
	abandoned bool
	tx        journal.Tx
}

func newTxHandoff() *txHandoff { return &txHandoff{gone: make(chan struct{})} }

// put is called by the attempt when the body has succeeded. If it returns false the attempt must
// roll the transaction back.
func (h *txHandoff) put(tx journal.Tx) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tx = tx
	return !h.abandoned
}

// abandon is called by the run when it stops waiting for the attempt. It returns the transaction
// that the run must roll back, nil for none.
func (h *txHandoff) abandon() journal.Tx {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.abandoned {
		close(h.gone)
	}
	h.abandoned = true
	return h.tx
}

// checkBody tells whether a body that has failed has ended its transaction before, nil if not. Its
// own failure is the cause then: the step must not be tried again, whatever its policy says.
func checkBody(ctx context.Context, tx journal.Tx) error {
	if c, ok := tx.(driver.CheckedTx); ok {
		return c.Check(context.WithoutCancel(ctx))
	}
	return nil
}

// askBeforeUse makes a transaction ask the run of its step, if it has to.
func askBeforeUse(e *executor, a *attempt, tx journal.Tx) {
	if x, ok := tx.(driver.ExclusiveTx); ok {
		x.BeforeUse(func(ctx context.Context) error {
			granted := make(chan struct{})
			e.root.Send(a.reply, borrow{epoch: a.epoch, cmd: a.sc.Cmd, number: a.number, granted: granted})
			select {
			case <-granted:
				return nil
			case <-a.handoff.gone:
				return ErrRunLost
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}
}
