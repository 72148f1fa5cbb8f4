package main

import (
	"github.com/reprise-run/reprise/journal"
)

// auditHistories checks J1 and J7 in every history: no gap, one start, one end, and time that does
// not go back. It also checks that no command has two outcomes.
func (f *facts) auditHistories() *finding {
	a := &finding{question: "histories: no gaps, time goes forward, one answer a command, one end"}
	for order, runs := range f.runs {
		for _, run := range runs {
			a.checked++
			h := f.histories[run.ID]
			if h.Err != nil || len(h.Events) == 0 {
				a.problem("order %s: run %s has %d events: %v", order, run.ID, len(h.Events), h.Err)
				continue
			}
			a.history(order, run, h.Events)
		}
	}
	return a
}

func (a *finding) history(order string, run journal.Run, events []journal.Event) {
	answered := map[journal.Cmd]bool{}
	for i, ev := range events {
		last := i == len(events)-1
		switch {
		case ev.Seq != journal.Seq(i+1):
			a.problem("order %s: event %d of run %s has seq %d", order, i+1, run.ID, ev.Seq)
		case (ev.Kind == journal.RunStarted) != (i == 0):
			a.problem("order %s: event %d of run %s is %s", order, ev.Seq, run.ID, ev.Kind)
		case i > 0 && ev.Time.Before(events[i-1].Time):
			a.problem("order %s: event %d of run %s is earlier than the one before", order, ev.Seq, run.ID)
		case ev.Kind.Terminal() != (last && run.Status.Closed()):
			a.problem("order %s: run %s is %s, event %d of %d is %s", order, run.ID, run.Status, ev.Seq, len(events), ev.Kind)
		case ev.Cmd != 0 && answered[ev.Cmd]:
			a.problem("order %s: run %s has two answers to command %d", order, run.ID, ev.Cmd)
		}
		answered[ev.Cmd] = true
	}
}

// auditInboxes checks J5: the messages of a run are consumed in order, each at most once. A message
// that arrived while its run ended may stay unread.
func (f *facts) auditInboxes() *finding {
	a := &finding{question: "inboxes: every message was consumed once, in order"}
	for order, runs := range f.runs {
		for _, run := range runs {
			h, last := f.histories[run.ID], journal.InboxSeq(0)
			for _, ev := range h.Events {
				if ev.Inbox == 0 {
					continue
				}
				a.checked++
				if ev.Inbox != last+1 {
					a.problem("order %s: run %s consumed message %d after %d", order, run.ID, ev.Inbox, last)
				}
				last = ev.Inbox
			}
			if len(h.Inbox) > 0 && !run.Status.Closed() {
				a.problem("order %s: open run %s has %d messages unread", order, run.ID, len(h.Inbox))
			}
		}
	}
	return a
}
