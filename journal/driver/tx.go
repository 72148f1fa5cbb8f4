package driver

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// TxStore is implemented by stores that let a step's own SQL commit together with its event.
type TxStore interface {
	// Begin opens a transaction. Its Value refuses to be committed or rolled back by user code.
	Begin(ctx context.Context) (journal.Tx, error)
}
