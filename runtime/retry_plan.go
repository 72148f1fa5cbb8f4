package runtime

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// retryPlan goes back to before the failure of a closed run.
func retryPlan(ctx context.Context, c *Client, run journal.RunID, again bool) (*plan, error) {
	h, err := rewindable(ctx, c, run, false)
	if err != nil {
		return nil, err
	}
	if h.Run.Status == journal.Open {
		return nil, journal.ErrOpen
	}
	seq, err := failurePoint(h)
	if err != nil {
		return nil, err
	}
	p := newPlan(h, seq, false)
	p.retries, p.again = true, again
	if !again {
		err = p.out.refuseCompleted(run, "the failure")
	}
	return p, err
}

// refuseCompleted refuses to go back over steps that have completed.
func (r *Rewinding) refuseCompleted(run journal.RunID, since string) error {
	for _, s := range r.Steps {
		if !s.Failed {
			return &PointError{Run: run, Text: fmt.Sprintf("step %s has completed since %s (event %d): a retry would run it again if the code asks for it, and does not undo what it did. "+
				"Retry it with Again, or reset the run to a point before what is to be done again", s.Name, since, s.Seq)}
		}
	}
	return nil
}

// rewindable reads the whole history of a run's present generation, and of its inbox the beginning
// if that is asked for.
func rewindable(ctx context.Context, c *Client, run journal.RunID, inbox bool) (*driver.History, error) {
	var all []journal.Event
	h, err := c.pages(ctx, driver.LoadRequest{Run: run, EventsOnly: !inbox}, func(page []journal.Event, first bool) {
		if first {
			all = nil
		}
		all = append(all, page...)
	})
	if err != nil {
		return nil, err
	}
	h.Events = all
	return h, nil
}
