package waiters

import (
	"github.com/reprise-run/reprise/journal"
)

const (
	// recentMax is how many closures are remembered. A caller usually asks for a result within
	// milliseconds of the start, so this is seconds of a busy node.
	recentMax = 10_000
	// recentBytesMax is the largest output that is remembered, so that all of them stay below 40
	// MiB. Larger ones are read again.
	recentBytesMax = 4 << 10
)

// recent is the set of runs that closed in this process lately, oldest first out. It closes a gap
// that hints have: a short run may end, and its end may be announced, before its starter asks for
// the result. Without recent that waiter would have to read the store, one statement more for each
// short run. It is a cache and nothing more: a run that is not in it is read. An entry never gets
// stale, because a run that is closed stays closed (J7). The mutex of Waiters guards it.
type recent struct {
	events map[journal.RunID]*journal.Event // nil for a run whose output is too large to keep
	order  []journal.RunID
}

// find returns the terminal event of a run, and whether the run is known to be closed: the event is
// nil if its output was too large.
func (r *recent) find(run journal.RunID) (terminal *journal.Event, closed bool) {
	terminal, closed = r.events[run]
	return terminal, closed
}

func (r *recent) add(run journal.RunID, terminal *journal.Event) {
	if len(r.order) >= recentMax {
		delete(r.events, r.order[0])
		r.order = r.order[1:]
	}
	if len(terminal.Payload.Data) > recentBytesMax {
		terminal = nil
	}
	r.events[run] = terminal
	r.order = append(r.order, run)
}
