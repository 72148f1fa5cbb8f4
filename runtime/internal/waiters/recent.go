package waiters

import (
	"time"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

const (
	// recentMax is how many closures are remembered. A caller usually asks for a result within
	// milliseconds of the start, so this is seconds of a busy node.
	recentMax = 10_000
	// recentBytesMax is the largest output that is remembered, so that all of them stay below 40
	// MiB. Larger ones are read again.
	recentBytesMax = 4 << 10
	// recentFor is how long a closure is good for. The gap that recent closes is of milliseconds,
	// and a run that another process has retried by then must not be told to have ended.
	recentFor = time.Second
)

// recent is the set of runs that closed in this process lately, oldest first out. It closes a gap
// that hints have: a short run may end, and its end may be announced, before its starter asks for
// the result. Without recent that waiter would have to read the store, one statement more for each
// short run. It is a cache and nothing more: a run that is not in it is read. A run that is closed
// stays closed (J7) unless an operator retries or resets it. If this client does so, the entry says
// which generations are over, so that no end of theirs that is heard of later is taken for the
// run's; and an end is used for recentFor. The mutex of Waiters guards it.
type recent struct {
	began time.Time // what times of entries are counted from
	ends  map[journal.RunID]recentEnd
	order list.Queue[recentRun] // the oldest first; one whose time is another in ends has come again
}

type recentEnd struct {
	terminal *journal.Event     // nil if it is to be read: it is too large to keep, or may be over
	at       time.Duration      // when the entry was made
	over     journal.Generation // the newest generation that this client has left behind; 0 for none
}

type recentRun struct {
	run journal.RunID
	at  time.Duration
}

func newRecent() recent { return recent{began: time.Now(), ends: map[journal.RunID]recentEnd{}} }

// find returns the terminal event of a run, and whether the run is known to be closed: the event is
// nil if it is to be read.
func (r *recent) find(run journal.RunID) (terminal *journal.Event, closed bool) {
	e, closed := r.ends[run]
	if !closed || time.Since(r.began)-e.at > recentFor {
		return nil, closed
	}
	return e.terminal, closed
}

// leave says that a run goes on behind a generation. That it may have been closed stays known: who
// asks reads it.
func (r *recent) leave(run journal.RunID, g journal.Generation) {
	r.put(run, recentEnd{over: max(r.ends[run].over, g)})
}

// add takes the end of a generation, and remembers it if keep says so. If that generation is over,
// its end is none of the run any more, and add returns false.
func (r *recent) add(run journal.RunID, terminal *journal.Event, g journal.Generation, keep bool) bool {
	over := r.ends[run].over
	if over > 0 && g <= over {
		return false
	}
	if len(terminal.Payload.Data) > recentBytesMax {
		terminal = nil
	}
	if keep {
		r.put(run, recentEnd{terminal: terminal, over: over})
	}
	return true
}

func (r *recent) put(run journal.RunID, e recentEnd) {
	if r.order.Len() >= recentMax {
		if first := r.order.Pop(); r.ends[first.run].at == first.at {
			delete(r.ends, first.run)
		}
	}
	e.at = time.Since(r.began)
	r.ends[run] = e
	r.order.Push(recentRun{run, e.at})
}
