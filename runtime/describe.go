package runtime

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Description tells what a run does and what it waits for, as of one moment.
type Description struct {
	Run     journal.Run // with its Task while open and its Terminal event when closed
	Steps   []PendingStep
	Timers  []PendingTimer
	Waiting []string // what the parked run waits for, in words
	Unread  int      // messages in the inbox that the run has not consumed
	Events  int      // length of the history
}

// PendingStep is a step without an outcome. Steps of a run's first turn show once it is journaled.
type PendingStep struct {
	Name      string
	Cmd       journal.Cmd
	Attempts  int32            // that have failed
	LastError *journal.Failure // of the last failed attempt
	NextAt    time.Time        // when the next attempt is due; zero if it may run now
	Cancelled bool
}

// PendingTimer is an armed timer.
type PendingTimer struct {
	Name string
	Cmd  journal.Cmd
	Due  time.Time
}

// Describe reads a run. It needs no code of the workflow: histories name everything that was issued. Error:
// journal.ErrNotFound.
func (c *Client) Describe(ctx context.Context, run journal.RunID) (*Description, error) {
	h, err := c.load(ctx, journal.LoadRequest{Run: run})
	if err != nil {
		return nil, err
	}
	d := &Description{Run: h.Run, Unread: len(h.Inbox), Events: len(h.Events)}
	if n := len(h.Events); n > 0 && h.Events[n-1].Kind.Terminal() {
		d.Run.Terminal = &h.Events[n-1]
	}
	if h.Run.Task == nil {
		return d, nil
	}
	d.Unread = int(h.Run.Task.InboxLast) // a load gives only the first of them
	for i := range h.Events {
		if seen := h.Events[i].Inbox; seen != 0 {
			d.Unread = int(h.Run.Task.InboxLast - seen) // consumed in order (J5)
		}
	}
	d.Waiting = h.Run.Task.Waiting
	d.pending(h)
	return d, nil
}

// pending is everything issued, without what was answered or, for timers, cancelled.
func (d *Description) pending(h *journal.History) {
	var issued []journal.Issued
	answered, cancelled := map[journal.Cmd]bool{}, map[journal.Cmd]bool{}
	for i := range h.Events {
		issued = append(issued, h.Events[i].Issued...)
		if h.Events[i].Cmd != 0 {
			answered[h.Events[i].Cmd] = true
		}
		for _, c := range h.Events[i].Issued {
			if c.Kind == journal.CommandCancel {
				cancelled[c.Target] = true
			}
		}
	}
	attempts := map[journal.Cmd]journal.Attempt{}
	for _, a := range h.Run.Task.Attempts {
		attempts[a.Cmd] = a
	}
	for i, c := range issued {
		cmd := journal.Cmd(i + 1) // commands are numbered in the order asked, cancels too
		switch {
		case answered[cmd]:
		case c.Kind == journal.CommandStep:
			a := attempts[cmd]
			d.Steps = append(d.Steps, PendingStep{Name: c.Name, Cmd: cmd, Attempts: a.Made, LastError: a.Failure, NextAt: a.NextAt, Cancelled: cancelled[cmd]})
		case c.Kind == journal.CommandTimer && !cancelled[cmd]:
			d.Timers = append(d.Timers, PendingTimer{Name: c.Name, Cmd: cmd, Due: c.Due})
		}
	}
}
