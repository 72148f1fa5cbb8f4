package journal

import "context"

// Tx is a transaction on the store's database that a caller or a step holds open. A back end makes
// one of its own transaction type; a Tx of another back end is refused with ErrInvalid.
type Tx interface {
	// Value is what user code works with: pgx.Tx on Postgres, *sql.Tx on SQLite.
	Value() any
	// Rollback abandons the transaction; after a commit it does nothing.
	Rollback(ctx context.Context) error
}
