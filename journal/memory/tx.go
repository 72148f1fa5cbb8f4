package memory

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Effects is what a step's transaction on a [Store] gives to user code, as other stores give a
// connection. A test puts there what its step would have written by SQL. The functions run in the
// order in which they were given, at the commit that carries the transaction, or never.
type Effects struct {
	list []func()
}

// Do lets fn happen exactly if and when the transaction commits, at the same moment as its event.
// fn must not call the store.
func (e *Effects) Do(fn func()) { e.list = append(e.list, fn) }

// tx is a step's transaction. Only Commit and Rollback end it, and either ends it for good: a
// commit that carries an ended one is ErrTxLost. It holds no lock while it is open, since effects
// are collected and carried out at the commit.
type tx struct {
	s       *Store
	effects Effects
	ended   bool // guarded by s.db.mu
}

// Begin implements driver.TxStore. The transaction's Value is an *Effects.
func (s *Store) Begin(ctx context.Context) (journal.Tx, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	return &tx{s: s}, nil
}

// Value implements journal.Tx.
func (t *tx) Value() any { return &t.effects }

// Rollback implements journal.Tx.
func (t *tx) Rollback(context.Context) error {
	t.s.db.mu.Lock()
	defer t.s.db.mu.Unlock()
	t.ended = true
	return nil
}

// commitInTx writes a turn and the effects of its step together. Whatever comes of it, the
// transaction has ended: a caller whose commit was refused must run the step again, in a new one.
func (s *Store) commitInTx(ctx context.Context, c *driver.Commit) (driver.Outcome, error) {
	t, ok := c.Tx.(*tx)
	if !ok || t.s.db != s.db {
		return driver.Outcome{}, fmt.Errorf("commit %s: transaction of type %T is not a step's: %w", c.Run, c.Tx, journal.ErrInvalid)
	}
	now, err := s.enter(ctx)
	if err != nil {
		// The caller cannot know whether a commit that failed here happened, so it must not happen
		// later.
		_ = t.Rollback(ctx)
		return driver.Outcome{}, err
	}
	defer s.db.mu.Unlock()
	if t.ended {
		return driver.Outcome{Err: journal.ErrTxLost}, nil
	}
	// From here on the transaction is over, whether the turn is accepted or not: a step that is
	// tried again begins a new one.
	t.ended = true
	out := s.db.commitAll([]driver.Commit{*c}, now)[0]
	if out.Err == nil {
		// Under the lock, so nobody sees the event without the effects.
		for _, fn := range t.effects.list {
			fn()
		}
	}
	return out, nil
}
