package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// retryPlan goes back to before the failure of a closed run. inbox says that its messages are to be
// named.
func retryPlan(ctx context.Context, c *Client, run journal.RunID, again, inbox bool) (*plan, error) {
	h, err := rewindable(ctx, c, run, inbox)
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
	p.retries, p.again, p.names = true, again, inbox
	if !again {
		p.carryOver()
		err = p.out.refuseCompleted(run, "the failure")
	}
	return p, err
}

// carryOver lets steps keep their results that the kept events have asked for and that have
// completed behind them: the others of a fan-out in which one has failed. As many as fit.
func (p *plan) carryOver() {
	bytes := 0
	for i := range p.out.Steps {
		s := &p.out.Steps[i]
		cmd := p.h.Events[s.Seq-1].Cmd
		known := slices.ContainsFunc(p.w.Given, func(g driver.Given) bool { return g.Cmd == cmd })
		if bytes += len(s.Outcome.Data); s.Failed || !s.Certain || known || len(p.w.Given) >= journal.AttemptsMax || bytes > journal.CommitBytesMax/2 {
			continue
		}
		s.Carried = true
		p.w.Given = append(p.w.Given, driver.Given{Cmd: cmd, Name: s.Name, Output: s.Outcome})
	}
	slices.SortFunc(p.w.Given, func(a, b driver.Given) int { return cmp.Compare(a.Cmd, b.Cmd) })
}

// refuseCompleted refuses to go back over steps that have completed.
func (r *Rewinding) refuseCompleted(run journal.RunID, since string) error {
	for _, s := range r.Steps {
		if !s.Failed && !s.Carried {
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
