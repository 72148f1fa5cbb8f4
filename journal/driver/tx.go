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

// TxLimiter is implemented by a TxStore that lets a bounded number of transactions be open at once.
type TxLimiter interface {
	// TxLimit names the bound and its value, for the log.
	TxLimit() string
}
