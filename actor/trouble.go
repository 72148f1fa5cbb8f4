package actor

import "time"

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
