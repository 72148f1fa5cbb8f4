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

// TxLimiter is implemented by a TxStore that lets a bounded number of transactions be open at once.
type TxLimiter interface {
	// TxLimit names the bound and its value, for the log.
	TxLimit() string
}
