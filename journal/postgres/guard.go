package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// guardedTx is what user code gets as the transaction of its step. Savepoints (Begin) are its own
// affair, the end is not: a step whose work was committed before its event is would be repeated
// after a crash, with its work done twice.
type guardedTx struct{ pgx.Tx }

// Commit refuses.
func (guardedTx) Commit(context.Context) error { return errUserCommit }

// Rollback refuses; a step that wants to roll back returns an error.
func (guardedTx) Rollback(context.Context) error { return errUserCommit }
