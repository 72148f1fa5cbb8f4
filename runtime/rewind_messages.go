package runtime

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// MessageFate is what becomes of a message when a run goes back.
type MessageFate string

// The fates of messages.
const (
	MessageKept    MessageFate = "kept"    // a kept event has consumed it
	MessageAgain   MessageFate = "again"   // it comes again, or a fork gets a copy
	MessageDropped MessageFate = "dropped" // it does not come again
)

// RewoundMessage is a signal, an update or a request to cancel of a run that goes back.
type RewoundMessage struct {
	Number journal.InboxSeq
	Kind   journal.MessageKind
	Name   string      // empty for a request to cancel
	Seq    journal.Seq // of the event of the present generation that has consumed it; 0 for none
	At     time.Time   // of that event, or when the message was accepted
	Fate   MessageFate
}

const (
	namedUnreadMax      = 10_000 // messages that a run has yet to consume: they are in memory
	namedGenerationsMax = 100    // earlier generations whose messages a run has again that begins anew
)

// nameMessages names the messages of the run, and what the plan makes of each. By [driver.Again] a
// store decides the same under its lock: so what is named is what a plan that is carried out now
// does. Answers to what the run has asked for are not named: they come whenever they are needed.
func (p *plan) nameMessages(ctx context.Context, c *Client) error {
	known := map[journal.InboxSeq]bool{}
	for i := range p.h.Events {
		p.nameEvent(&p.h.Events[i], known, journal.Seq(i) < p.seq)
	}
	if err := p.nameUnread(ctx, c, known); err != nil {
		return err
	}
	first := p.h.Run.Generation // whose events are looked at
	if p.w.Whole {
		first = max(1, p.h.Run.Generation-namedGenerationsMax)
		p.out.MoreMessages = p.out.MoreMessages || first > 1
	}
	for g := first; g < p.h.Run.Generation; g++ {
		q := driver.LoadRequest{Run: p.h.Run.ID, EventsOnly: true, Generation: g}
		h, err := c.pages(ctx, q, func(page []journal.Event, _ bool) {
			for i := range page {
				ev := page[i]
				ev.Seq = 0 // it is of another generation
				p.nameEvent(&ev, known, false)
			}
		})
		if err != nil {
			return err
		}
		if h.Run.Generation != p.h.Run.Generation {
			return driver.ErrMoved
		}
	}
	slices.SortFunc(p.out.Messages, func(a, b RewoundMessage) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// nameEvent names the message that an event has consumed.
func (p *plan) nameEvent(ev *journal.Event, known map[journal.InboxSeq]bool, kept bool) {
	m := RewoundMessage{Number: ev.Inbox, Name: ev.Name, Seq: ev.Seq, At: ev.Time}
	switch ev.Kind {
	case journal.SignalReceived:
		m.Kind = journal.MessageSignal
	case journal.UpdateReceived:
		m.Kind = journal.MessageUpdate
	case journal.CancelRequested:
		m.Kind, m.Name = journal.MessageCancel, ""
	default:
		return
	}
	if kept {
		m.Fate = MessageKept
	}
	p.nameMessage(m, known)
}

// nameUnread names the messages that the run has yet to consume. The first page is of the snapshot
// in which its events were read.
func (p *plan) nameUnread(ctx context.Context, c *Client, known map[journal.InboxSeq]bool) error {
	for page, n := p.h, 0; ; {
		for i := range page.Inbox {
			m := &page.Inbox[i]
			n++
			if m.Kind.Answers() {
				continue
			}
			named := RewoundMessage{Number: m.Number, Kind: m.Kind, Name: m.Name, At: m.Time}
			if m.Kind == journal.MessageCancel {
				named.Name = ""
			}
			p.nameMessage(named, known)
		}
		if !page.MoreInbox {
			return nil
		}
		if n >= namedUnreadMax {
			p.out.MoreMessages = true
			return nil
		}
		last := page.Inbox[len(page.Inbox)-1].Number
		next, err := c.load(ctx, driver.LoadRequest{Run: p.h.Run.ID, InboxOnly: true, AfterInbox: last})
		if err != nil {
			return err
		}
		if next.Run.Generation != p.h.Run.Generation {
			return driver.ErrMoved
		}
		page = next
	}
}

// nameMessage names a message once. One without a fate is behind the point.
func (p *plan) nameMessage(m RewoundMessage, known map[journal.InboxSeq]bool) {
	if m.Number == 0 || known[m.Number] {
		return
	}
	known[m.Number] = true
	if m.Fate == "" {
		m.Fate = MessageAgain
		if p.w.Messages.Leaves(&driver.Unread{Number: m.Number, Kind: m.Kind, Name: m.Name}) {
			m.Fate = MessageDropped
		}
	}
	p.out.Messages = append(p.out.Messages, m)
}
