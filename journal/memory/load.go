package memory

import (
	"context"
	"sort"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Load implements driver.Store.
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

func (db *database) load(q *driver.LoadRequest) driver.History {
	r := db.runs[q.Run]
	if r == nil {
		return driver.History{Err: journal.ErrNotFound}
	}
	if q.Answer != 0 {
		return driver.History{Run: r.listed(), Answer: r.answer(q.Answer)}
	}
	h := driver.History{Run: r.row()}
	h.Run.Task = r.queued()
	if !q.InboxOnly {
		from := sort.Search(len(r.events), func(i int) bool { return r.events[i].Seq > q.AfterSeq })
		to := len(r.events)
		if q.Limit > 0 {
			to = min(to, from+q.Limit)
		}
		h.Events = r.copyEvents(r.events[from:to])
	}
	h.Inbox = r.copyInbox(r.unread(q.AfterInbox, answerMax))
	return h
}

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

// answer returns a copy of the reply to an update, or nil.
func (r *record) answer(n journal.InboxSeq) *journal.Answer {
	a, ok := r.answers[n]
	if !ok {
		return nil
	}
	return &journal.Answer{Payload: clonePayload(a.Payload), Rejected: a.Rejected}
}
