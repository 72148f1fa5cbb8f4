package journaltest

import "github.com/reprise-run/reprise/journal"

// Archive is what a store keeps of a run beyond what it tells engines: for checks of whole lives.
type Archive struct {
	Past    [][]journal.Event // the histories of earlier generations, in order
	Inbox   []journal.Message // every message that ever came, in order
	Answers map[journal.InboxSeq]journal.Answer
}

// Archive returns a copy of what is kept of a run, and nothing of a run that does not exist.
func (m *Memory) Archive(run journal.RunID) (a Archive) {
	m.db.mu.Lock()
	defer m.db.mu.Unlock()
	r := m.db.runs[run]
	if r == nil {
		return a
	}
	now := r.events
	for _, events := range r.past {
		r.events = events
		a.Past = append(a.Past, r.copyEvents(0, len(events)))
	}
	r.events = now
	a.Answers = map[journal.InboxSeq]journal.Answer{}
	for i := range r.inbox {
		n := r.inbox[i].Number
		a.Inbox = append(a.Inbox, r.message(n))
		if answer := r.answer(n); answer != nil {
			a.Answers[n] = *answer
		}
	}
	return a
}
