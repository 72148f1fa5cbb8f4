package replica

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

const (
	// patienceMax is how long a query waits for whoever works on the run: a turn takes
	// milliseconds.
	patienceMax = 3 * time.Second
	// pauseFirst and pauseMax are how long it waits before it looks again.
	pauseFirst = 2 * time.Millisecond
	pauseMax   = 200 * time.Millisecond
)

// patience is how long one query still waits for its run to go on: half of its caller's time at
// most, so that there is some left for an answer.
type patience struct {
	until time.Time
	next  time.Duration
}

func newPatience(ctx context.Context) *patience {
	max := patienceMax
	if deadline, ok := ctx.Deadline(); ok {
		max = min(max, time.Until(deadline)/2)
	}
	return &patience{until: time.Now().Add(max), next: pauseFirst}
}

// pause waits a little.
func (p *patience) pause(ctx context.Context) error {
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	p.next = min(2*p.next, pauseMax)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progress tells whether a run has gone on: a turn counts or adds an event.
type progress struct {
	generation journal.Generation
	turn       journal.Turn
	seq        journal.Seq
}

// left tells whether to wait for the run to go on. Nobody goes on with a run that is blocked, and
// if one query has waited in vain, the next ones need not, as long as the run stands where it did.
func (p *patience) left(r *replica, d *delta) bool {
	if d.run.Task == nil || d.run.Task.State != journal.Ready {
		return false
	}
	at := progress{d.run.Generation, d.turn(), r.head.Seq}
	if r.vain != nil && *r.vain == at {
		return false
	}
	if time.Now().Before(p.until) {
		return true
	}
	r.vain = &at
	return false
}

// owed tells whether somebody works on the run who is about to take what waits. Who owns a run
// takes its messages in an order with the outcomes of steps that nobody else knows, so it is left
// to say. The first turn of a run is another matter: it follows from the run's row.
func (r *replica) owed(d *delta) bool {
	if d.run.Task == nil || d.run.Task.Owner == 0 {
		return false
	}
	return len(d.messages) > 0 || r.inbox.Number > 0 || r.head.Seq == 0 && d.run.Continued != nil
}
