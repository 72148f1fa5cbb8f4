package actor

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// trouble is why a run cannot continue, and how often that was so.
//
// A blocked run is free: whoever claims it tries again, and the delay until then doubles as long as
// nothing but blocks is committed. The count lives in memory alone. It survives because an idle run
// that has it stays in memory until the next attempt is due and some time longer; if another node
// or another actor takes the run, it starts with the first delay, which costs a few attempts.
type trouble struct {
	problem string // in phases failing, failed and blocking
	stack   string // of the panic that the problem is, until it is reported
	blocks  int    // times the run was blocked since it last committed anything else
	keep    time.Time
	until   time.Time // the block that was refused is not submitted again before, whoever asks
	blind   bool      // it is submitted without the head, which the store may be unable to compare
}

// began is why a run cannot continue from now on.
func (t *trouble) began(problem string) {
	t.problem, t.until, t.blind = problem, time.Time{}, false
}

// refused notes that the commit that blocks the run was not written, and returns how long the run
// waits until the next try. An error that is about the run and not about the store may come from
// looking at its history, as damage does, so the next try names none: the owner, its fence and its
// turn decide (J3), and a block adds no event.
func (t *trouble) refused(err error) time.Duration {
	t.blind = t.blind || !errors.Is(err, journal.ErrUnavailable)
	return t.rest()
}

// rest begins the wait for the next try.
func (t *trouble) rest() time.Duration {
	delay := t.delay()
	t.until = time.Now().Add(delay)
	return delay
}

// next counts a block and returns how long it lasts. The actor stays in memory for idle longer.
func (t *trouble) next(now time.Time, idle time.Duration) time.Duration {
	delay := t.delay()
	t.blocks++
	t.keep = now.Add(delay + idle)
	return delay
}

// delay is how long the next block lasts.
func (t *trouble) delay() time.Duration { return min(blockedFirst<<min(t.blocks, 20), blockedMax) }

// over forgets the count: the run has committed something else.
func (t *trouble) over() { t.blocks, t.keep = 0, time.Time{} }
