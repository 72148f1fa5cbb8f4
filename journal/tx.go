package journal

import (
	"context"
)

// Tx is a transaction on the store's database that a caller or a step holds open.
type Tx interface {
	// Value is what user code works with: pgx.Tx on Postgres, *sql.Tx on SQLite.
	Value() any
	// Rollback abandons it; after a commit it does nothing.
	Rollback(ctx context.Context) error
}

// TxStore is implemented by stores that let a step's own SQL commit together with its event.
type TxStore interface {
	// Begin opens a transaction. Its Value refuses to be committed or rolled back by user code.
	Begin(ctx context.Context) (Tx, error)
}
