package driver

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// TxStore is implemented by stores that let a step's own SQL commit together with its event. So the
// effect and the record of it are one: either both are there or neither is, and the step's body
// need not be idempotent.
type TxStore interface {
	// Begin opens a transaction. Its Value refuses to be committed or rolled back by user code.
	Begin(ctx context.Context) (journal.Tx, error)
}

// ExclusiveTx is implemented by the transactions of a store that keeps its other writes waiting
// while one is open, from its first statement on. It is committed by a turn of its run, and a run
// writes one turn after the other. So a turn that was submitted before the first statement, and is
// written after it, would wait for the transaction, which waits for the turn. The engine excludes
// that by BeforeUse.
type ExclusiveTx interface {
	journal.Tx
	// BeforeUse sets what is called, and waited for, before the first statement of the body keeps
	// anybody waiting. Its error is the statement's.
	BeforeUse(ask func(ctx context.Context) error)
}

// TxEndedError says that the body of a step has ended its transaction itself, by SQL, where it is
// not allowed to. What it has committed is there without the event of the step, and would be there
// again after each further attempt. So there is none: the failure is permanent. It is
// journal.ErrTxLost as well.
type TxEndedError struct{}

func (*TxEndedError) Error() string {
	return "the body of the step has ended its transaction by SQL of its own (COMMIT or ROLLBACK); " +
		"what it has committed stays, so the step is not tried again; leave the end of the transaction to the engine"
}

// Is matches journal.ErrTxLost.
func (*TxEndedError) Is(target error) bool { return target == journal.ErrTxLost }

// Permanent says that the step is not tried again.
func (*TxEndedError) Permanent() bool { return true }

// CheckedTx is implemented by the transactions of a store whose SQL the body of a step could end
// them with.
type CheckedTx interface {
	journal.Tx
	// Check returns a TxEndedError if the body has ended the transaction. It is for bodies that
	// have failed; a commit finds it out by itself.
	Check(ctx context.Context) error
}

// CommitWatcher is implemented by the Hints of a store that can tell when a transaction of a caller
// has committed.
type CommitWatcher interface {
	// AfterCommit calls done soon after tx has committed, on a goroutine of the store. It is called
	// while tx is open, with the context of the caller's call. Like a hint it is a matter of speed
	// alone: the call may be lost, or come although tx was rolled back.
	AfterCommit(ctx context.Context, tx journal.Tx, done func())
}

// afterCommit calls done after a caller's transaction has committed, if the store can tell.
func (j *Journal) afterCommit(ctx context.Context, tx journal.Tx, done func()) {
	if w, ok := j.store.Hints().(CommitWatcher); ok {
		w.AfterCommit(ctx, tx, done)
	}
}

// TxLimiter is implemented by a TxStore that lets a bounded number of transactions be open at once.
type TxLimiter interface {
	// TxLimit names the bound and its value, for the log.
	TxLimit() string
}
