package actor

import (
	"sync"

	"github.com/reprise-run/reprise/journal"
)

// handover is where an attempt leaves its open transaction for its run. A run that is gone by then never hears
// of the attempt's end, so whoever comes second to the handover ends the transaction. Nil hands nothing over.
type handover struct {
	mu        sync.Mutex
	abandoned bool
	tx        journal.Tx
}

// leave is called by the attempt. It tells whether the run may still take the transaction.
func (h *handover) leave(tx journal.Tx) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tx = tx
	return !h.abandoned
}

// abandon is called by a run that gives up the attempt. It returns what was left, if anything.
func (h *handover) abandon() journal.Tx {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abandoned = true
	return h.tx
}
