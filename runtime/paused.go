package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// refusePaused returns an ErrPaused if a run is paused, or in a scope that is. A run that is closed
// or not there is for the call behind it to refuse.
func refusePaused(ctx context.Context, c *Client, run journal.RunID) error {
	h, err := c.j.Load(ctx, []driver.LoadRequest{{Run: run, Answer: driver.StateOnly}})
	if err != nil {
		return err
	}
	t := h[0].Run.Task
	if t == nil {
		return nil
	}
	if t.State.OnHold() {
		list, err := c.j.Audit(ctx, journal.AuditFilter{Run: run, Verb: driver.AdminPause.String(), Limit: 1})
		if err != nil {
			return err
		}
		for _, e := range list {
			return pausedError("it", e.Actor, e.Reason, e.Time)
		}
		return ErrPaused // nobody knows by whom: its audit was deleted
	}
	pauses, err := c.j.Pauses(ctx)
	if err != nil || len(pauses) == 0 {
		return err
	}
	// The route is in the row of the run, beside an input that may be large.
	if h, err = c.j.Load(ctx, []driver.LoadRequest{{Run: run, EventsOnly: true, Limit: 1, Lean: true}}); err != nil {
		return err
	}
	r := &h[0].Run
	if _, unreadable := errors.AsType[*journal.UnreadableError](h[0].Err); h[0].Err != nil && !unreadable {
		return h[0].Err
	}
	for i := range pauses {
		if p := &pauses[i]; p.Scope.Covers(journal.Route{Queue: r.Queue, Workflow: r.Workflow, Version: r.Version}) {
			return pausedError(p.Scope.String(), p.Actor, p.Reason, p.Time)
		}
	}
	return nil
}

// pausedError says who has paused what, since when, and why.
func pausedError(what, actor, reason string, since time.Time) error {
	if actor == "" {
		actor = "somebody"
	}
	if reason != "" {
		reason = ": " + reason
	}
	return fmt.Errorf("%w: %s has paused %s, since %s%s", ErrPaused, actor, what, since.Format(time.RFC3339), reason)
}
