package postgres

import (
	"context"
	"errors"
	"sync/atomic"

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
// A call of one member holds up nobody in its batch, and to bound its wait would cost each such
// call a statement. So one at a time of a store waits as long as it takes; callers let others past
// it, see package batch. As long as it is there the others are bounded like batches: however many
// runs a program has locked, one connection waits for them.

// heldWaitSQL bounds the waits for locks until the transaction ends.
const heldWaitSQL = `SELECT set_config('lock_timeout', '100ms', true)`

type aloneKey struct{}

// alone marks the call of one member that waits a moment only: it has been taken out of its batch,
// because one of the batch is held and nobody knows which, or another one waits already.
func alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// singles counts the impatient calls of one member that wait as long as it takes: one at most.
type singles struct{ waiting atomic.Bool }

// enter begins an impatient call of n members, and returns the context for it and its end. What it
// decides for a call of one member holds for all of that call.
func (c *singles) enter(ctx context.Context, n int) (context.Context, func()) {
	switch {
	case n != 1 || !driver.IsImpatient(ctx):
		return ctx, func() {}
	case c.waiting.CompareAndSwap(false, true):
		return ctx, func() { c.waiting.Store(false) }
	}
	return alone(ctx), func() {}
}

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

// lockedRuns are runs, true for those whose task somebody has locked.
type lockedRuns map[journal.RunID]bool

// batchHeld is a batch that waited in vain for a lock, member by member.
type batchHeld struct {
	n      int
	run    func(k int) journal.RunID // whose task a member needs
	refuse func(k int)               // gives a member driver.ErrHeld
	isHeld func(k int) bool          // whether it has got that
	locked func(ctx context.Context, runs []journal.RunID) (lockedRuns, error)
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
