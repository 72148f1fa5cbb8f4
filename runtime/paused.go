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
//
// It asks twice, what is paused and how the run stands, and a third time only to say who has paused
// the run. The scopes come first: without any, the state of the run is all that is to be known of
// it. With some its route is too, which stands in its row beside an input that may be large.
func refusePaused(ctx context.Context, c *Client, run journal.RunID) error {
	pauses, err := c.j.Pauses(ctx)
	if err != nil {
		return err
	}
	look := driver.LoadRequest{Run: run, Answer: driver.StateOnly}
	if len(pauses) > 0 {
		look = driver.LoadRequest{Run: run, EventsOnly: true, Limit: 1, Lean: true}
	}
	h, err := c.j.Load(ctx, []driver.LoadRequest{look})
	if err != nil {
		return err
	}
	if _, unreadable := errors.AsType[*journal.UnreadableError](h[0].Err); h[0].Err != nil && !unreadable {
		if errors.Is(h[0].Err, journal.ErrNotFound) {
			return nil
		}
		return h[0].Err
	}
	t := h[0].Run.Task
	if t == nil {
		return nil
	}
	if t.State.OnHold() {
		return pausedRun(ctx, c, run)
	}
	r := &h[0].Run
	for i := range pauses {
		if p := &pauses[i]; p.Scope.Covers(journal.Route{Queue: r.Queue, Workflow: r.Workflow, Version: r.Version}) {
			return pausedError(p.Scope.String(), p.Actor, p.Reason, p.Time)
		}
	}
	return nil
}

// pausedRun says who has paused a run.
func pausedRun(ctx context.Context, c *Client, run journal.RunID) error {
	list, err := c.j.Audit(ctx, journal.AuditFilter{Run: run, Verb: driver.AdminPause.String(), Limit: 1})
	if err != nil {
		return err
	}
	for _, e := range list {
		return pausedError("it", e.Actor, e.Reason, e.Time)
	}
	return ErrPaused // nobody knows by whom: its audit was deleted
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
