package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that goes on takes its children along: who has closed cancels or terminates those that are
// open, so a run that goes on behind its end would hear at once that they were. They go on first,
// while their parent is closed and hears nothing of them; an answer that came before is stale then,
// and the store leaves it out (driver.Unread.Stale). If the parent does not go on after all, say
// because the caller has died, a repeated call finds them open.
//
// A child that outlives its parent, or was cancelled by somebody else, has ended as was wanted: its
// parent hears of that.

// revival is a child that goes on with its parent.
type revival struct {
	run    journal.RunID
	cancel journal.InboxSeq // the request to cancel of one that is open; 0 for one that has closed
}

// revivals finds the children that go on with the run of a plan.
func revivals(ctx context.Context, c *Client, p *plan) (list []revival, err error) {
	ties := p.ties()
	err = eachChild(ctx, c, p.h.Run.ID, p.w, ties, func(child *journal.Run) error {
		tie, open := ties[child.Parent.Cmd], child.Status == journal.Open
		switch {
		case child.Status == journal.Completed, tie == failing && open, tie != failing && child.Status == journal.Failed,
			tie == silent && child.Parent.Policy == journal.CloseAbandon:
			return nil
		case tie == failing:
			list = append(list, revival{run: child.ID})
			return nil
		}
		r, ends, err := endedBy(ctx, c, child.ID, tie)
		if ends {
			list = append(list, r)
		}
		return err
	})
	return list, err
}

// ties are of the children that the kept events have started and have no answer of.
func (p *plan) ties() map[journal.Cmd]tie {
	ties := map[journal.Cmd]tie{}
	if p.h.Run.Status.Closed() {
		for cmd, in := range p.unanswered() {
			if in.Kind == journal.CommandChild {
				ties[cmd] = silent
			}
		}
	}
	for i := range p.h.Events[p.seq:] {
		ev := &p.h.Events[int(p.seq)+i]
		for _, in := range ev.Issued {
			if in.Kind == journal.CommandCancel && p.waitsFor(in.Target) {
				ties[in.Target] = dropped
			}
		}
		if i == 0 && p.retries && ev.Kind == journal.ChildFailed {
			ties[ev.Cmd] = failing
		}
	}
	return ties
}

// waitsFor tells whether a command of the kept events has started a child whose answer is not among
// them.
func (p *plan) waitsFor(cmd journal.Cmd) bool {
	n := journal.Cmd(0)
	started := false
	for i := range p.h.Events[:p.seq] {
		ev := &p.h.Events[i]
		if ev.Cmd == cmd {
			return false
		}
		for _, in := range ev.Issued {
			n++
			started = started || n == cmd && in.Kind == journal.CommandChild
		}
	}
	return started
}

// endedBy tells whether a child has ended, or is to end, by its parent: a request or a termination
// that came with the parent's end, or the request that what comes behind the point has sent.
func endedBy(ctx context.Context, c *Client, run journal.RunID, why tie) (r revival, ends bool, err error) {
	h, err := rewindable(ctx, c, run, true)
	if err != nil {
		return r, false, err
	}
	r.run = run
	says := func(p journal.Payload) bool {
		f, err := journal.DecodeFailure(p)
		return why == dropped || err == nil && f.Message == journal.ParentClosed
	}
	if h.Run.Status == journal.Terminated {
		return r, why == silent && says(h.Events[len(h.Events)-1].Payload), nil
	}
	for i := range h.Events {
		if ev := &h.Events[i]; ev.Kind == journal.CancelRequested {
			if h.Run.Status == journal.Open {
				r.cancel = ev.Inbox
			}
			return r, ev.Inbox > 0 && says(ev.Payload), nil
		}
	}
	if h.Run.Status != journal.Open {
		return r, false, nil
	}
	return cancelOf(ctx, c, h, says)
}

// cancelOf looks for a request to cancel that an open run has not consumed.
func cancelOf(ctx context.Context, c *Client, h *driver.History, says func(journal.Payload) bool) (r revival, ends bool, err error) {
	r.run = h.Run.ID
	q := driver.LoadRequest{Run: r.run, InboxOnly: true}
	for {
		for i := range h.Inbox {
			m := &h.Inbox[i]
			if q.AfterInbox = m.Number; m.Kind == journal.MessageCancel {
				r.cancel = m.Number
				return r, says(m.Payload), nil
			}
		}
		if len(h.Inbox) == 0 || !h.MoreInbox {
			return r, false, nil
		}
		if h, err = c.load(ctx, q); err != nil {
			return r, false, err
		}
	}
}
