package worker

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// trials decides how many suspects a claim may take, see driver.SuspectStrikes. The claim loop asks
// it, and actors tell it who has committed.
//
// The first claim takes one, so that the death of this node is counted against it alone, and none
// is taken while it is tried. A trial ends after driver.TrialTime, or when its suspects have
// committed: they are none any more then, so a death would be counted against the next one alone.
// After each trial that this node has lived through, the next claim may take twice as many: when
// many runs have become suspects because others killed their owners, they are not tried one after
// the other for hours. If one of many kills the node, nobody is blamed for that, the next node
// begins with one again, and those that were acquitted before are none of its suspects any more. A
// claim that finds fewer than it may take ends the series.
type trials struct {
	over func() // called when suspects may be claimed sooner than next has said

	mu    sync.Mutex
	room  int                    // suspects that the next claim may take
	end   time.Time              // of the trial, in local time
	tried map[journal.RunID]bool // suspects of the trial that have not committed
}

// suspects is how many the claim that is about to be sent may take.
func (t *trials) suspects() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.end) {
		return 0
	}
	return max(t.room, 1)
}

// note takes an answer to a claim that might take so many, before any of its runs is activated.
func (t *trials) note(limit int, claim *driver.Claim) (found int) {
	if limit == 0 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tried = map[journal.RunID]bool{}
	for i := range claim.Tasks {
		if task := &claim.Tasks[i].Task; task.Strikes >= driver.SuspectStrikes {
			t.tried[task.Run] = true
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

// acquitted takes a suspect that has committed. The last one ends the trial.
func (t *trials) acquitted(run journal.RunID) {
	t.mu.Lock()
	last := t.tried[run] && len(t.tried) == 1
	delete(t.tried, run)
	if last {
		t.end = time.Time{}
	}
	t.mu.Unlock()
	if last {
		t.over()
	}
}

// next is when the next claim is worth it: when the next task falls due, or the trial ends, since
// suspects that are due already are no task that falls due. now is the store's.
func (t *trials) next(due, now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := time.Until(t.end)
	if end := now.Add(left); left > 0 && (due.IsZero() || end.Before(due)) {
		return end
	}
	return due
}
