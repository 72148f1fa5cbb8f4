package replay

import (
	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// Mailbox holds the signals of one name that code has not received yet, first in first out. It exists
// before anyone waits, so no signal is lost.
type Mailbox struct {
	gate    Gate
	signals list.Queue[mail]
}

// mail is one signal.
type mail struct {
	number  journal.InboxSeq
	payload journal.Payload
}

// Mailbox returns the mailbox of a signal name.
func (m *Machine) Mailbox(name string) *Mailbox {
	m.Look()
	b := m.mailboxes[name]
	if b == nil {
		b = &Mailbox{gate: Gate{What: "signal " + name}}
		if m.mailboxes == nil {
			m.mailboxes = make(map[string]*Mailbox)
		}
		m.mailboxes[name] = b
	}
	return b
}

// Len is the number of signals that wait.
func (b *Mailbox) Len() int { return b.signals.Len() }

// Gate opens when a signal arrives.
func (b *Mailbox) Gate() *Gate { return &b.gate }

// Pop takes the oldest signal out; there must be one.
func (b *Mailbox) Pop() journal.Payload { return b.signals.Pop().payload }

// numbers lists the messages that wait.
func (b *Mailbox) numbers() []journal.InboxSeq {
	var all []journal.InboxSeq
	for _, m := range b.signals.All() {
		all = append(all, m.number)
	}
	return all
}

func (m *Machine) deliver(ev *journal.Event) {
	b := m.Mailbox(ev.Name)
	b.signals.Push(mail{ev.Inbox, ev.Payload})
	m.openFirst(&b.gate)
}

// Pass lets the next waiting strand look, if signals are left: a strand that was woken for a signal may
// have taken another way. Whoever waited at the gate calls it when it no longer waits.
func (m *Machine) Pass(b *Mailbox) {
	if b.Len() > 0 {
		m.openFirst(&b.gate)
	}
}
