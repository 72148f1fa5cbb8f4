package actor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// A step that may not be tried again fails, or pauses its run: its options say which. What pauses
// the run is the commit that says in the task's attempts that the step is exhausted
// (driver.Commit.Pause), so the one is never stored without the other. That commit keeps the task,
// whatever else would become of it; the next turn parks it, as after any pause.
//
// So a step that is exhausted and told, in a run that is not on hold, was resumed, whoever has seen
// that: the owner that is still there, or the next one. It gets a new set of attempts. An owner
// that dies before it has stored this leaves the same to the next.
//
// A turn may end the run, its generation or the step in the very moment. Then there is nothing to
// wait for, and no pause.

// exhaust lets a step wait for a resume instead of ending, if its options say so. A step that was
// cancelled ends.
func exhaust(r *run, s *step, last *journal.Failure) bool {
	if s.Options.Exhausted != replay.PauseRun || s.Cancelled {
		return false
	}
	s.exhausted, s.told, s.failure, s.nextAt = true, false, last, time.Time{}
	r.steps.dirty = true
	if r.host.o.Hooks.Exhausted != nil {
		r.host.o.Hooks.Exhausted(r.info, s.Name, s.made, last)
	}
	return true
}

// notePauses lets the commit pause the run if steps are exhausted that the store does not know of.
func notePauses(t *turn, table *steps) {
	var causes []string
	for _, s := range table.open {
		if s.exhausted && !s.told && !s.ended && !s.dropped && !slices.Contains(t.cancel, s) {
			t.pauses = append(t.pauses, s)
			causes = append(causes, s.whyExhausted())
		}
	}
	t.commit.Pause = strings.Join(causes, "; ")
}

// whyExhausted says for people why the step is not tried again.
func (s *step) whyExhausted() string {
	often := fmt.Sprintf("%d attempts", s.made)
	if s.made == 1 {
		often = "1 attempt"
	}
	return fmt.Sprintf("step %s is exhausted after %s: %s", s.Name, often, s.failure.Summary())
}

// renew gives exhausted steps that the store knows of a new set of attempts.
func (t *steps) renew(now time.Time) {
	for _, s := range t.open {
		if s.exhausted && s.told {
			s.exhausted, s.told, s.earlier, s.panics, s.since = false, false, s.made, 0, now
			t.dirty = true
		}
	}
}
