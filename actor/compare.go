package actor

import (
	"errors"

	"github.com/reprise-run/reprise/journal/driver"
)

// ErrNotOwned is why a run is given up that the store does not name as this node's any more.
var ErrNotOwned = errors.New("the store does not name this node as the owner of the run")

// ErrOtherState is why a run is given up whose stored history is not the one in memory.
var ErrOtherState = errors.New("the stored history of the run is not the one in memory")

// onCompared handles what the store says of this run.
func (r *run) onCompared(m *compared) {
	switch known := r.phase.owned() && r.info.ID == m.run; {
	case !known && m.found:
		r.host.stray(m.holding)
	case !known, r.phase.inFlight(), !r.changed.Before(m.asked):
	case !m.found:
		r.giveUp(ErrNotOwned)
		return
	case !agrees(r, &m.holding):
		r.giveUp(ErrOtherState)
		r.host.stray(m.holding)
		return
	}
	r.advanceOrReport()
}

// agrees tells whether the store has the run in the state that this actor knows. An actor that has
// not loaded the run yet knows the claim only.
func agrees(r *run, h *driver.Holding) bool {
	if h.Fence != r.task.Fence || h.Generation != r.task.Generation {
		return false
	}
	return r.head.Link == 0 || h.Head == r.head || h.Head.Link == 0 && r.head.Seq == 0
}

// stray reports a task that the store says this node owns, and that is not live here in this state.
func (h *host) stray(holding driver.Holding) {
	if h.o.Hooks.Stray != nil {
		h.o.Hooks.Stray(holding)
	}
}
