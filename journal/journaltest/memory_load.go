package journaltest

import (
	"context"
	"sort"

	"github.com/reprise-run/reprise/journal"
)

// Load implements journal.Store.
func (m *Memory) Load(ctx context.Context, requests []journal.LoadRequest) ([]journal.History, error) {
	if _, err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.db.mu.Unlock()
	out := make([]journal.History, len(requests))
	for i := range requests {
		out[i] = m.db.load(&requests[i])
	}
	return out, nil
}

func (db *database) load(q *journal.LoadRequest) journal.History {
	r := db.runs[q.Run]
	if r == nil {
		return journal.History{Err: journal.ErrNotFound}
	}
	h := journal.History{Run: r.row()}
	h.Run.Task = r.queued()
	if !q.InboxOnly {
		from := sort.Search(len(r.events), func(i int) bool { return r.events[i].Seq > q.AfterSeq })
		to := len(r.events)
		if q.Limit > 0 {
			to = min(to, from+q.Limit)
		}
		h.Events = r.copyEvents(from, to)
	}
	from := min(len(r.inbox), int(max(q.AfterInbox, r.seen))) // numbers are positions, from 1
	h.Inbox = r.copyInbox(from, min(len(r.inbox), from+memoryAnswerMax))
	return h
}

func (r *record) copyEvents(from, to int) []journal.Event { return copies(from, to, r.event) }

func (r *record) copyInbox(from, to int) []journal.Message { return copies(from, to, r.message) }

func copies[T any](from, to int, of func(i int) T) []T {
	if from >= to {
		return nil
	}
	list := make([]T, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, of(i))
	}
	return list
}
