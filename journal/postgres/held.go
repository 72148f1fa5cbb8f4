package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A transaction of a program's own that signals a run, or starts one under a key, locks the run's
// task, or the key, for as long as it stays open. A batch that needs the same row would wait for
// it, and everybody in the batch with it. So a batch of an impatient caller waits a moment only. If
// that was not enough it is rolled back, the rows that are held are found, their members get
// driver.ErrHeld, and the rest is written. See driver.Impatient.
//
// A call of one member holds up nobody in its batch and waits; it would cost each such call a
// statement to bound that. Callers let others past it, see package batch.

// heldWaitSQL bounds the waits for locks until the transaction ends.
const heldWaitSQL = `SELECT set_config('lock_timeout', '200ms', true)`

type aloneKey struct{}

// alone marks the call of a member that has been taken out of its batch, because one of the batch
// is held and nobody knows which: it does not wait either.
func alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// hasty tells whether a call of n members waits a moment only.
func hasty(ctx context.Context, n int) bool {
	marked, _ := ctx.Value(aloneKey{}).(bool)
	return marked || n > 1 && driver.IsImpatient(ctx)
}

// lockTimeout tells whether a statement waited in vain for a lock.
func lockTimeout(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "55P03"
}

// batchHeld is a batch that waited in vain for a lock, member by member.
type batchHeld struct {
	n      int
	run    func(k int) journal.RunID // whose task a member needs
	refuse func(k int)               // gives a member driver.ErrHeld
	isHeld func(k int) bool          // whether it has got that
	locked func(ctx context.Context, runs []journal.RunID) (map[journal.RunID]bool, error)
	write  func(ctx context.Context, members []int) error
}

// heldInARow is how many members that are tried alone find a lock before the rest is not tried:
// they all need the same one then.
const heldInARow = 3

// apart writes what is not held. If no task is held the lock is another one, of a key for instance,
// and each member is tried alone.
func (b *batchHeld) apart(ctx context.Context) error {
	if b.n == 1 {
		b.refuse(0)
		return nil
	}
	runs, all := make([]journal.RunID, b.n), make([]int, b.n)
	for k := range runs {
		runs[k], all[k] = b.run(k), k
	}
	held, err := b.locked(ctx, runs)
	if err != nil {
		return err
	}
	var free []int
	for k := range runs {
		if held[runs[k]] {
			b.refuse(k)
		} else {
			free = append(free, k)
		}
	}
	switch {
	case len(free) == 0:
		return nil
	case len(free) < b.n:
		return b.write(ctx, free)
	}
	row := 0
	for k := range all {
		if row == heldInARow {
			b.refuse(k)
			continue
		}
		if err := b.write(alone(ctx), all[k:k+1]); err != nil {
			return err
		}
		if row++; !b.isHeld(k) {
			row = 0
		}
	}
	return nil
}
