package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Effects is what a step's transaction on a [Store] gives to user code, as other stores give a
// connection. A test puts there what its step would have written by SQL. The functions run in the
// order in which they were given, at the commit that carries the transaction, or never.
type Effects struct {
	list []func()
	try  []func() error
}

// Do lets fn happen exactly if and when the transaction commits, at the same moment as its event.
// fn must not call the store.
func (e *Effects) Do(fn func()) { e.list = append(e.list, fn) }

// Try lets fn happen at that commit too, and lets fn refuse it: after an error of fn's the
// transaction is lost, nothing of the turn is written, nothing of Do happens, and the attempt of
// the step has failed with that error. fn is called when nothing else can refuse the commit any
// more, and before anybody sees anything of it. The functions of Try are called one after the
// other, up to the first that fails; what those before it did is theirs to undo. fn must not call
// the store.
func (e *Effects) Try(fn func() error) { e.try = append(e.try, fn) }

// tried calls the functions of Try that a commit carries, if any. Each is called once, because its
// transaction ends with the commit.
func tried(carried journal.Tx) error {
	t, ok := carried.(*tx)
	if !ok {
		return nil
	}
	for _, fn := range t.effects.try {
		switch err := fn(); {
		case err == nil:
		case errors.Is(err, journal.ErrTxLost): // it says so itself
			return err
		default:
			return fmt.Errorf("%w: %w", journal.ErrTxLost, err)
		}
	}
	return nil
}

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
