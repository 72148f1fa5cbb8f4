package worker

import (
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// trials decides how many suspects a claim may take, see driver.SuspectStrikes. It belongs to the
// claim loop.
//
// The first claim takes one, so that the death of this node is counted against it alone, and none
// is taken while it is tried. After each trial that this node has lived through, the next claim may
// take twice as many: when many runs have become suspects because others killed their owners, they
// are not tried one after the other for hours. If one of many kills the node, nobody is blamed for
// that, the next node begins with one again, and those that were acquitted before are none of its
// suspects any more. A claim that finds fewer than it may take ends the series.
type trials struct {
	room int       // suspects that the next claim may take
	end  time.Time // of the trial, in local time
}

// suspects is how many the claim that is about to be sent may take.
func (t *trials) suspects() int {
	if time.Now().Before(t.end) {
		return 0
	}
	return max(t.room, 1)
}

// note takes an answer to a claim that might take so many.
func (t *trials) note(limit int, claim *driver.Claim) (found int) {
	if limit == 0 {
		return 0
	}
	for i := range claim.Tasks {
		if claim.Tasks[i].Task.Strikes >= driver.SuspectStrikes {
			found++
		}
	}
	t.room = 1
	if found >= limit {
		t.room = 2 * limit
	}
	if found > 0 {
		t.end = time.Now().Add(driver.TrialTime + acquittalMax)
	}
	return found
}

// next is when the next claim is worth it: when the next task falls due, or the trial ends, since
// suspects that are due already are no task that falls due. now is the store's.
func (t *trials) next(due, now time.Time) time.Time {
	left := time.Until(t.end)
	if end := now.Add(left); left > 0 && (due.IsZero() || end.Before(due)) {
		return end
	}
	return due
}
