package actor

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// onLoaded takes in what a load has found, unless the run belongs to another owner: everything that
// it would execute would be executed for nothing.
func (r *run) onLoaded(m loaded) {
	r.enter(ready)
	task := m.history.Run.Task
	if unreadable, ok := errors.AsType[*journal.UnreadableError](m.history.Err); ok {
		r.fail(unreadable)
		r.advance()
		return
	}
	switch err := errors.Join(m.err, m.history.Err); {
	case errors.Is(err, journal.ErrNodeLost):
		r.giveUp(err)
		return
	case errors.Is(err, journal.ErrNotFound) || err == nil && task == nil:
		r.giveUp(ErrRunClosed)
		return
	case err == nil && (task.Owner != r.host.o.Node || task.Fence != r.task.Fence || task.Generation != r.task.Generation):
		r.giveUp(journal.ErrFenced)
		return
	case err != nil:
		r.fail(fmt.Errorf("the history cannot be read: %w", err))
	default:
		r.unconfirmed = false
		hear(r, task.State)
		noteFreezes(r, m.history.Run.Freezes)
		if r.apart > 0 {
			takeRow(r, &m.history.Run)
		}
		if r.machine == nil {
			takeHistory(r, &m.history)
		} else if !onHold(r) {
			r.inputs.addMessages(&m.history)
		}
		renewMachine(r)
	}
	r.advance()
}
