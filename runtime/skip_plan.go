package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// skipPlan goes back to before the event that has consumed a message, or takes nothing back. inbox
// says that the messages of the run are to be named.
func skipPlan(ctx context.Context, c *Client, run journal.RunID, message journal.InboxSeq, inbox bool) (*plan, error) {
	h, err := rewindable(ctx, c, run, inbox)
	if err != nil {
		return nil, err
	}
	seq, err := skipPoint(ctx, c, h, message)
	if err != nil {
		return nil, err
	}
	return newSkipPlan(h, seq, message), nil
}

func newSkipPlan(h *driver.History, seq journal.Seq, message journal.InboxSeq) *plan {
	p := newPlan(h, seq, true)
	p.w.Messages = driver.Again{Skip: message, Cancel: true}
	p.keepGiven()
	return p
}

// skipNamedPlan is skipPlan for the message that has a name.
func skipNamedPlan(ctx context.Context, c *Client, run journal.RunID, name string) (*plan, error) {
	h, err := rewindable(ctx, c, run, true)
	if err != nil {
		return nil, err
	}
	var unread []journal.InboxSeq
	if h.Run.Status == journal.Open {
		if unread, err = unreadNamed(ctx, c, h, name); err != nil {
			return nil, err
		}
	}
	var consumed []journal.InboxSeq
	seq := latest(h)
	for i := range h.Events {
		ev := &h.Events[i]
		if ev.Name == name && (ev.Kind == journal.SignalReceived || ev.Kind == journal.UpdateReceived) {
			consumed = append(consumed, ev.Inbox)
			if len(unread) == 0 && len(consumed) == 1 {
				seq = ev.Seq - 1
			}
		}
	}
	what, list := "has yet to consume", unread
	if len(unread) == 0 {
		what, list = "has consumed", consumed
	}
	switch {
	case len(list) == 0:
		return nil, refusePoint(h, "it has no signal or update %s that its present generation has consumed, or has yet to consume", name)
	case len(list) > 1:
		return nil, refusePoint(h, "it %s %d messages %s: choose one by its number, of %s", what, len(list), name, numbersText(list))
	}
	return newSkipPlan(h, seq, list[0]), nil
}

// unreadNamed returns the signals and updates with a name that an open run has yet to consume.
func unreadNamed(ctx context.Context, c *Client, h *driver.History, name string) (list []journal.InboxSeq, err error) {
	for page := h; ; {
		for i := range page.Inbox {
			if m := &page.Inbox[i]; m.Name == name && (m.Kind == journal.MessageSignal || m.Kind == journal.MessageUpdate) {
				list = append(list, m.Number)
			}
		}
		if !page.MoreInbox {
			return list, nil
		}
		last := page.Inbox[len(page.Inbox)-1].Number
		if page, err = c.load(ctx, driver.LoadRequest{Run: h.Run.ID, InboxOnly: true, AfterInbox: last}); err != nil {
			return nil, err
		}
		if page.Run.Generation != h.Run.Generation || page.Run.Task == nil || page.Run.Task.Turn != h.Run.Task.Turn {
			return nil, driver.ErrMoved // it may have consumed one since
		}
	}
}

// numbersText names the first of some messages.
func numbersText(list []journal.InboxSeq) string {
	const most = 10
	var texts []string
	for _, n := range list[:min(len(list), most)] {
		texts = append(texts, fmt.Sprint(n))
	}
	if len(list) > most {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// skipPoint returns how many events are before the one that has consumed a message.
func skipPoint(ctx context.Context, c *Client, h *driver.History, message journal.InboxSeq) (journal.Seq, error) {
	none := func() error {
		return refusePoint(h, "it has no message %d that its present generation has consumed, or has yet to consume", message)
	}
	if message < 1 {
		return 0, none()
	}
	for i := range h.Events {
		ev := &h.Events[i]
		if ev.Inbox != message {
			continue
		}
		switch ev.Kind {
		case journal.SignalReceived, journal.UpdateReceived, journal.CancelRequested:
			return ev.Seq - 1, nil
		}
		return 0, refusePoint(h, "message %d is %s %s (event %d), and its code waits for it: only signals, updates and requests to cancel can be left out", message, ev.Kind, ev.Name, ev.Seq)
	}
	if h.Run.Status.Closed() {
		return 0, refusePoint(h, "it has ended, and has not consumed a message %d", message)
	}
	inbox, err := c.load(ctx, driver.LoadRequest{Run: h.Run.ID, InboxOnly: true, AfterInbox: message - 1, Bytes: 1})
	switch {
	case err != nil:
		return 0, err
	case inbox.Run.Generation != h.Run.Generation, inbox.Run.Task == nil, inbox.Run.Task.Turn != h.Run.Task.Turn: // it may have consumed the message since
		return 0, driver.ErrMoved
	case len(inbox.Inbox) == 0 || inbox.Inbox[0].Number != message:
		return 0, none()
	case inbox.Inbox[0].Kind.Answers():
		return 0, refusePoint(h, "message %d is a %s, and its code waits for it: only signals, updates and requests to cancel can be left out", message, inbox.Inbox[0].Kind)
	}
	return latest(h), nil
}

// keepGiven leaves steps the results that earlier edits have given them, if the kept events have
// asked for these steps: the run has not taken such a result while it is paused. An operator who
// gives a step its result does not want it to be executed because of the next edit or skip.
func (p *plan) keepGiven() {
	if p.h.Run.Task == nil {
		return
	}
	cmds := p.commands()
	for _, a := range p.h.Run.Task.Attempts {
		taken := func(ev journal.Event) bool { return ev.Kind.EndsStep() && ev.Cmd == a.Cmd }
		again := func(g driver.Given) bool { return g.Cmd == a.Cmd }
		if a.Given != nil && a.Cmd <= cmds && !slices.ContainsFunc(p.h.Events[:p.seq], taken) && !slices.ContainsFunc(p.w.Given, again) {
			p.w.Given = append(p.w.Given, driver.Given{Cmd: a.Cmd, Name: a.Name, Output: *a.Given})
		}
	}
	slices.SortFunc(p.w.Given, func(a, b driver.Given) int { return cmp.Compare(a.Cmd, b.Cmd) })
}
