package journaltest

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Effects is what a step's transaction on a [Memory] gives to user code, as other stores give a connection.
type Effects struct {
	list []func()
}

// Do lets fn happen exactly if and when the transaction commits, at the same moment as its event. fn must not call
// the store.
func (e *Effects) Do(fn func()) { e.list = append(e.list, fn) }

// memoryTx is a step's transaction. Only Commit and Rollback end it.
type memoryTx struct {
	m       *Memory
	effects Effects
	ended   bool // guarded by m.db.mu
}

// Begin implements journal.TxStore. The transaction's Value is an *Effects.
func (m *Memory) Begin(ctx context.Context) (journal.Tx, error) {
	if _, err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.db.mu.Unlock()
	return &memoryTx{m: m}, nil
}

// Value implements journal.Tx.
func (t *memoryTx) Value() any { return &t.effects }

// Rollback implements journal.Tx.
func (t *memoryTx) Rollback(context.Context) error {
	t.m.db.mu.Lock()
	defer t.m.db.mu.Unlock()
	t.ended = true
	return nil
}

// commitInTx writes a turn and the effects of its step together. Whatever comes of it, the transaction has ended.
func (m *Memory) commitInTx(ctx context.Context, c *journal.Commit) (journal.Outcome, error) {
	t, ok := c.Tx.(*memoryTx)
	if !ok || t.m.db != m.db {
		return journal.Outcome{}, fmt.Errorf("commit %s: transaction of type %T is not a step's: %w", c.Run, c.Tx, journal.ErrInvalid)
	}
	now, err := m.enter(ctx)
	if err != nil {
		_ = t.Rollback(ctx)
		return journal.Outcome{}, err
	}
	defer m.db.mu.Unlock()
	if t.ended {
		return journal.Outcome{Err: journal.ErrTxLost}, nil
	}
	t.ended = true
	out := m.db.commitAll([]journal.Commit{*c}, now)[0]
	if out.Err == nil {
		for _, fn := range t.effects.list {
			fn()
		}
	}
	return out, nil
}
