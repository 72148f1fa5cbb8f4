package runtime

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Description tells what a run does and what it waits for, as of one moment. It is the caller's to
// keep and to change. Commands are identified by their Cmd: the position, from 1, among everything
// that the present generation asked for.
type Description struct {
	Run      journal.Run // with its Parent, its Generation, its Task while open and its Terminal event when closed
	Steps    []PendingStep
	Timers   []PendingTimer
	Children []PendingChild // whose outcome the run does not know; Client.List with a Parent has all of them
	Updates  []PendingUpdate
	Waiting  []string // what the parked run waits for, and which signals it does not receive, in words
	SetAside []SetAsideSignal
	Inbox    []journal.Message // the first ones that an open run has not consumed
	Unread   int               // how many it has not consumed
	Events   int               // length of the present generation's history
	LastAt   time.Time         // of its newest event; zero if it has none
}

// PendingStep is a step without an outcome. The steps of a run's first turn are shown once that
// turn is committed, which may be with the turn after it.
type PendingStep struct {
	Name      string
	Cmd       journal.Cmd
	Since     time.Time        // when the code asked for it
	Attempts  int32            // that have failed
	LastError *journal.Failure // of the last failed attempt
	NextAt    time.Time        // when the next attempt is due; zero if it may run now
	Cancelled bool
	Exhausted bool // it may not be tried again, and has paused the run (workflow.PauseRun): a resume tries it anew
}

// PendingTimer is a timer that has neither fired nor been cancelled.
type PendingTimer struct {
	Name  string
	Cmd   journal.Cmd
	Since time.Time // when the code armed it
	Due   time.Time // later than the code asked for if it stood still meanwhile; zero while it stands still
	// Left is what is left of its time while the run is paused and its timers stand still, see
	// PauseOptions.FreezeTimers. Then Due is zero.
	Left time.Duration
}

// PendingChild is a child whose outcome the run does not know yet.
type PendingChild struct {
	Workflow  string
	Key       string
	Cmd       journal.Cmd
	Since     time.Time    // when the code asked for it
	Run       *journal.Run // nil if it was not found: it may just have been started, or deleted
	Cancelled bool
}

// PendingUpdate is an update that was accepted and has no answer yet.
type PendingUpdate struct {
	Name   string
	Number journal.InboxSeq
}

// SetAsideSignal is a signal of the present generation that did not decode when the code was about
// to receive it. Its payload is that of the event SignalReceived with this Inbox, see
// [Client.History]. Send what was meant again, under another key.
type SetAsideSignal struct {
	Name   string
	Number journal.InboxSeq
}

// Describe reads what is stored of a run and tells what it does. It needs no code of the workflow:
// histories name everything that the code asked for. It reads the whole history of the present
// generation. Errors: journal.ErrNotFound, ctx's.
//
// A run of which something cannot be read is described as far as it can: Run.Unreadable says what,
// and if that is an event, the steps, timers and so on are those as of the event before it.
func (c *Client) Describe(ctx context.Context, run journal.RunID) (*Description, error) {
	d, _, err := c.describe(ctx, run)
	return d, err
}

// describe also returns the events of the present generation, without their payloads.
func (c *Client) describe(ctx context.Context, run journal.RunID) (d *Description, all []journal.Event, err error) {
	var last journal.Event
	h, err := c.pages(ctx, driver.LoadRequest{Run: run}, func(page []journal.Event, first bool) {
		if first {
			all = nil
		}
		for _, ev := range page {
			last, ev.Payload = ev, journal.Payload{}
			all = append(all, ev)
		}
	})
	unreadable, partly := errors.AsType[*journal.UnreadableError](err)
	if err != nil && !partly {
		return nil, nil, err
	}
	d = &Description{Run: h.Run, Unread: len(h.Inbox), Events: len(all), LastAt: last.Time}
	if partly {
		d.Run.Unreadable = unreadable
	}
	if len(all) > 0 && last.Kind.Terminal() {
		d.Run.Terminal = &last
	}
	if h.Run.Task == nil {
		return d, all, nil
	}
	if n := len(h.Inbox); n > 0 { // a load gives only the first of them
		d.Unread += int(h.Run.Task.InboxLast - h.Inbox[n-1].Number)
	}
	d.Inbox, d.Waiting = h.Inbox, h.Run.Waits()
	d.pending(h.Run.Task, all)
	return d, all, c.findChildren(ctx, d)
}

// findChildren looks up the runs of pending children, newest first, in at most childPagesMax pages:
// an old child of a run with very many younger ones stays without its run.
func (c *Client) findChildren(ctx context.Context, d *Description) error {
	byCmd := make(map[journal.Cmd]*PendingChild, len(d.Children))
	for i := range d.Children {
		byCmd[d.Children[i].Cmd] = &d.Children[i]
	}
	f := journal.ListFilter{Parent: d.Run.ID, Limit: journal.ListMax}
	for missing, pages := len(byCmd), 0; missing > 0 && pages < childPagesMax; pages++ {
		page, err := c.j.List(ctx, f)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			run := &page.Runs[i]
			if p := byCmd[run.Parent.Cmd]; p != nil && p.Run == nil && run.Parent.Generation == d.Run.Rewound.Issuer(d.Run.Generation, run.Parent.Cmd) {
				p.Run = run
				missing--
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return nil
}

// pending fills in everything that was issued and is not answered. A cancelled timer is not
// pending, because it never gets an event; a cancelled step or child is pending until its outcome
// comes.
func (d *Description) pending(task *journal.Task, events []journal.Event) {
	var issued []journal.Issued
	var at []time.Time // when each was
	answered, cancelled := map[journal.Cmd]bool{}, map[journal.Cmd]bool{}
	for i := range events {
		ev := &events[i]
		for _, c := range ev.Issued {
			issued, at = append(issued, c), append(at, ev.Time)
		}
		if ev.Cmd != 0 {
			answered[ev.Cmd] = true
		}
		if ev.Kind == journal.UpdateReceived {
			d.Updates = append(d.Updates, PendingUpdate{Name: ev.Name, Number: ev.Inbox})
		}
		for _, c := range ev.Issued {
			switch c.Kind {
			case journal.CommandCancel:
				cancelled[c.Target] = true
			case journal.CommandAside:
				n, _ := strconv.ParseInt(c.Detail, 10, 64)
				d.SetAside = append(d.SetAside, SetAsideSignal{Name: c.Name, Number: journal.InboxSeq(n)})
			case journal.CommandReply:
				d.Updates = slices.DeleteFunc(d.Updates, func(u PendingUpdate) bool {
					return strconv.FormatInt(int64(u.Number), 10) == c.Detail
				})
			}
		}
	}
	attempts := map[journal.Cmd]journal.Attempt{}
	for _, a := range task.Attempts {
		attempts[a.Cmd] = a
	}
	for i, c := range issued {
		cmd := journal.Cmd(i + 1) // commands are numbered in the order asked, cancels too
		switch {
		case answered[cmd]:
		case c.Kind == journal.CommandStep:
			a := attempts[cmd]
			d.Steps = append(d.Steps, PendingStep{
				Name: c.Name, Cmd: cmd, Since: at[i], Attempts: a.Made, LastError: a.Failure, NextAt: a.NextAt, Cancelled: cancelled[cmd],
				Exhausted: a.Exhausted,
			})
		case c.Kind == journal.CommandChild:
			d.Children = append(d.Children, PendingChild{Workflow: c.Name, Key: c.Detail, Cmd: cmd, Since: at[i], Cancelled: cancelled[cmd]})
		case c.Kind == journal.CommandTimer && !cancelled[cmd]:
			t := PendingTimer{Name: c.Name, Cmd: cmd, Since: at[i]}
			t.Due, t.Left = d.Run.Freezes.Due(t.Since, c.Due)
			d.Timers = append(d.Timers, t)
		}
	}
}
