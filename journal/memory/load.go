package memory

import (
	"context"
	"sort"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Load implements driver.Store. All histories of one call are of the same moment, which is more
// than a store must give.
func (s *Store) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]driver.History, len(requests))
	for i := range requests {
		out[i] = s.db.load(&requests[i])
	}
	return out, nil
}

// load answers one request. A run that is closed has no task, and an Answer request of it gets the
// terminal event instead.
func (db *database) load(q *driver.LoadRequest) driver.History {
	r := db.runs[q.Run]
	if r == nil {
		return driver.History{Err: journal.ErrNotFound}
	}
	if q.Answer != 0 {
		return driver.History{Run: r.unanswered(), Answer: r.answer(q.Answer)}
	}
	// What the caller has already is left out: a node that kept its machine loads only what is new.
	h := driver.History{Run: r.withTask()}
	if !q.InboxOnly {
		// Seqs have no gaps, but they begin again with each generation: search rather than
		// subtract.
		events := r.generation(q.GenerationOf(r.run.Generation))
		from := sort.Search(len(events), func(i int) bool { return events[i].Seq > q.AfterSeq })
		h.Events, h.More = r.pageOfEvents(events[from:], driver.NewPage(q, q.EventsMax()))
	}
	if !h.More && !q.NoInbox() {
		h.Inbox, h.MoreInbox = r.pageOfInbox(r.unread(q.AfterInbox, answerMax+1), driver.NewPage(q, answerMax))
	}
	return h
}

// generation returns the events of a generation, none if the run has it not.
func (r *record) generation(g journal.Generation) []journal.Event {
	switch {
	case g == r.run.Generation:
		return r.events
	case g >= 1 && int(g) <= len(r.past):
		return r.past[g-1]
	}
	return nil
}

// pageOfEvents and pageOfInbox return copies of what a page has room for, and whether something is
// left.
func (r *record) pageOfEvents(events []journal.Event, page driver.Page) (list []journal.Event, more bool) {
	for i := range events {
		ev := r.event(&events[i])
		if !page.Fits(driver.EventBytes(&ev)) {
			return list, true
		}
		list = append(list, ev)
	}
	return list, false
}

func (r *record) pageOfInbox(numbers []journal.InboxSeq, page driver.Page) (list []journal.Message, more bool) {
	for _, n := range numbers {
		m := r.message(n)
		if !page.Fits(driver.MessageBytes(&m)) {
			return list, true
		}
		list = append(list, m)
	}
	return list, false
}

// copyEvents and copyInbox return copies, with what the stored form leaves out.
func (r *record) copyEvents(events []journal.Event) (list []journal.Event) {
	for i := range events {
		list = append(list, r.event(&events[i]))
	}
	return list
}

func (r *record) copyInbox(numbers []journal.InboxSeq) (list []journal.Message) {
	for _, n := range numbers {
		list = append(list, r.message(n))
	}
	return list
}

// unanswered returns what tells why an update of the run has no reply.
func (r *record) unanswered() journal.Run {
	run := journal.Run{ID: r.run.ID, Status: r.run.Status, Terminal: r.terminal()}
	if r.open {
		run.Task = &journal.Task{Run: r.run.ID, State: r.task.State, Problem: r.task.Problem}
	}
	return run
}

// Ends implements driver.Store.
func (s *Store) Ends(ctx context.Context, runs []journal.RunID) ([]driver.End, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var ends []driver.End
	used := 0
	for _, id := range runs {
		r := s.db.runs[id]
		switch {
		case r == nil:
			ends = append(ends, driver.End{Run: id, Err: journal.ErrNotFound})
		case r.open:
		case !driver.FitEnd(used):
			ends = append(ends, driver.End{Run: id, Later: true})
		default:
			ev := r.terminal()
			used += len(ev.Payload.Data)
			ends = append(ends, driver.End{Run: id, Terminal: ev})
		}
	}
	return ends, nil
}

// answer returns a copy of the reply to an update, or nil while there is none. A reader tells "not
// yet" from "never" by whether the run is closed.
func (r *record) answer(n journal.InboxSeq) *journal.Answer {
	a, ok := r.answers[n]
	if !ok {
		return nil
	}
	return &journal.Answer{Payload: clonePayload(a.Payload), Rejected: a.Rejected}
}
