package actor

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// needsLimits makes a run that has not begun wait for the limits that its workflow and its queue
// name and that it does not have, and tells whether nothing else is to be done with it. Whoever
// started it may not have had the code that names them.
//
// A run has begun as soon as a step of it may have, which is before its first event is stored. From
// then on it has the limits that it has.
func needsLimits(r *run) bool {
	if r.host.o.Needs == nil || r.info.Generation != 1 || len(r.uncommitted)+len(r.steps.open) > 0 {
		return false
	}
	route := journal.Route{Queue: r.info.Queue, Workflow: r.info.Workflow, Version: r.info.Version}
	needs, err := r.host.o.Needs(route, r.info.Input, r.info.Labels, r.info.Limits)
	switch {
	case err != nil:
		r.fail(fmt.Errorf("the run cannot begin: %w", err))
	case len(needs) == 0:
		return false
	default:
		t := r.turn.reset()
		t.commit.Next.Kind, t.commit.Limits = driver.NextPark, needs
		r.submit(t, committing)
	}
	return true
}
