package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
)

// bodyTx is what the body of a step has of its transaction.
type bodyTx interface{ outbox() *driver.Outbox }

// guardedTx is what user code gets as the transaction of its step. Savepoints (Begin) are its own
// affair, the end is not: a step whose work was committed before its event is would be repeated
// after a crash, with its work done twice.
type guardedTx struct{ watchedTx }

// Commit refuses.
func (guardedTx) Commit(context.Context) error { return errUserCommit }

// Rollback refuses; a step that wants to roll back returns an error.
func (guardedTx) Rollback(context.Context) error { return errUserCommit }

// Begin begins a savepoint.
func (t guardedTx) Begin(ctx context.Context) (pgx.Tx, error) {
	return beginSavepoint(ctx, t.Tx, t.step)
}

// savepointTx is a part of a step's transaction that the body may undo. What the body has started
// and sent in it is undone too.
type savepointTx struct {
	watchedTx
	mark driver.OutboxMark
}

func beginSavepoint(ctx context.Context, outer pgx.Tx, step *stepTx) (pgx.Tx, error) {
	if err := step.body.open(); err != nil {
		return nil, err
	}
	inner, err := outer.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &savepointTx{watchedTx{inner, step}, step.box.Mark()}, nil
}

// Begin begins a savepoint in the savepoint.
func (t *savepointTx) Begin(ctx context.Context) (pgx.Tx, error) {
	return beginSavepoint(ctx, t.Tx, t.step)
}

// Rollback undoes what was done since the savepoint. After its end there is nothing to undo.
func (t *savepointTx) Rollback(ctx context.Context) error {
	err := t.Tx.Rollback(ctx)
	if err == nil {
		t.step.box.Undo(t.mark)
	}
	return err
}
