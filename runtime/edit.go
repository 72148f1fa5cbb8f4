package runtime

import (
	"context"
	"fmt"
	"maps"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What operators change in the row of a run, each with a row in the audit: see [Client.Audit].

// SetLabels sets labels of a run, and removes those that are named, so that listings find it by
// what people know of it: the ticket of a failure, for instance. The run may be open or closed, and
// no node needs to have its code. Other labels stay as they are. A change that changes nothing has
// no entry in the audit; of others the entry says which labels have changed.
//
// Code that sets labels ([workflow.SetLabels]) goes on from what the operator has set: of each
// label the last writer wins, also if a turn of the run is under way. The code itself goes on to
// see the labels of the start. A run has at most journal.LabelsMax labels, and code that exceeds
// that blocks the run, so leave it those that it sets.
//
// Errors: journal.ErrNotFound; a *journal.LimitError for too many or too long labels, and
// journal.ErrInvalid for others that no run may have or a label that is both set and removed,
// before anything is stored; a *journal.UnreadableError if the labels of the run cannot be read;
// ctx's.
func (c *Client) SetLabels(ctx context.Context, run journal.RunID, set map[string]string, remove []string) error {
	for _, name := range remove {
		if _, both := set[name]; both {
			return fmt.Errorf("set labels of run %s: %w: label %q is both set and removed", run, journal.ErrInvalid, name)
		}
	}
	changes := make(map[string]*string, len(set)+len(remove))
	for name, value := range set {
		changes[name] = &value
	}
	for _, name := range remove {
		changes[name] = nil
	}
	call := Call{Kind: SetLabelsCall, Run: run}
	if len(c.around.Layers) > 0 { // theirs to look at
		shown := maps.Clone(changes)
		for name, value := range set {
			shown[name] = &value
		}
		call.Payload = shown
	}
	return c.admin(ctx, call, driver.AdminAction{Kind: driver.AdminSetLabels, Labels: changes})
}

// SetPriority changes the priority of an open run, from 1, the most urgent, to 5: see
// StartOptions.Priority. No node needs to have its code. A run that waits for a node is claimed by
// its new priority, now or when it is due. One that a node has stays there: its steps get their
// slots by the old priority until the run is parked and claimed again. One that waits for limits of
// its own gets the place of the new priority in their lines. Its next generations keep the new
// priority; its children keep theirs. A change that changes nothing has no entry in the audit.
//
// Errors: journal.ErrNotFound; journal.ErrClosed; journal.ErrInvalid for another number; ctx's.
func (c *Client) SetPriority(ctx context.Context, run journal.RunID, priority int16) error {
	a := driver.AdminAction{Kind: driver.AdminSetPriority, Priority: priority}
	return c.admin(ctx, Call{Kind: SetPriorityCall, Run: run, Payload: priority}, a)
}
