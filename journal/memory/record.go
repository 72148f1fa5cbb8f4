package memory

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// record is one run with all that belongs to it. Beside the invariants of database:
//
//   - Message n stands at inbox[n-1]; task.InboxLast is len(inbox) while the run is open (J5).
//   - events have the seqs 1, 2, 3 without a gap (J1).
//   - known holds the key of every message that was not rejected, across generations.
//   - answers holds a reply for each update that was answered or rejected.
//
// Nothing in a record is shared with a caller: what comes in is copied, and so is what goes out. A
// caller may change what it handed over, as with a store that is elsewhere.
type record struct {
	run      journal.Run // without Task and Terminal
	holdsKey bool        // whether the key leads here (J8)
	beyond   bool        // no limit that is full cancels it

	open        bool
	task        journal.Task // of an open run; without Attempts and Waiting
	attempts    []byte
	waiting     string
	unconfirmed bool // owned, and nothing was committed under this fence yet

	events  []journal.Event   // of the current generation; those that consume a message have no payload
	past    [][]journal.Event // of the generations before
	front   inboxFront
	inbox   []journal.Message
	known   map[string]journal.InboxSeq // numbers by message key
	answers map[journal.InboxSeq]journal.Answer

	// Where the task is queued; see database.enqueue. order breaks ties between tasks that became
	// visible at the same time.
	heap  *taskHeap
	index int
	order uint64
}

// newRecord returns a run that has just been started, with its task. It is in no index yet.
func newRecord(st *journal.Start, now time.Time) *record {
	run := journal.Run{
		ID: st.ID, Key: st.Key, Workflow: st.Workflow, Version: st.Version, Queue: st.Queue, Priority: st.Priority,
		Labels: cloneLabels(st.Labels), Input: clonePayload(st.Input), Trace: st.Trace, Generation: 1,
		CreatedAt: now, StartAt: instant(now.Add(st.Delay)), Parent: cloned(st.Parent),
		Headers: cloneLabels(st.Headers), Timeout: st.Timeout, OnFailure: st.OnFailure, Limits: slices.Clone(st.Limits),
	}
	return &record{
		run: run, beyond: st.BeyondBacklog, open: true, known: map[string]journal.InboxSeq{}, answers: map[journal.InboxSeq]journal.Answer{},
		task: journal.Task{Run: run.ID, Generation: 1, Queue: run.Queue, Workflow: run.Workflow, Version: run.Version,
			Priority: run.Priority, VisibleAt: run.StartAt},
	}
}

// open returns the record of an open run, or nil.
func (s *Store) open(run journal.RunID) *record {
	if r := s.db.runs[run]; r != nil && r.open {
		return r
	}
	return nil
}

// route is what a node must serve to acquire the task.
func (r *record) route() journal.Route {
	return journal.Route{Queue: r.task.Queue, Workflow: r.task.Workflow, Version: r.task.Version}
}

// row returns a copy of the run that shares nothing with the record. It is without task and
// terminal event, as the row of a run is.
func (r *record) row() journal.Run {
	run := r.run
	run.Labels, run.Headers, run.Input = cloneLabels(run.Labels), cloneLabels(run.Headers), clonePayload(run.Input)
	run.StartLabels = maps.Clone(run.StartLabels) // empty is not nil
	run.Published = clonePublished(run.Published)
	run.Parent, run.Continued, run.Rewound = cloned(run.Parent), cloned(run.Continued), run.Rewound.Clone()
	run.Freezes, run.Limits = slices.Clone(run.Freezes), slices.Clone(run.Limits)
	if run.Continued != nil {
		run.Continued.Carried = slices.Clone(run.Continued.Carried)
	}
	return run
}

func clonePublished(list []journal.Published) []journal.Published {
	list = slices.Clone(list)
	for i := range list {
		list[i].Value = clonePayload(list[i].Value)
	}
	return list
}

// withTask returns the row with a copy of the task, if there is one. Attempts and waiting are kept
// as drivers store them, so that whatever their form loses is lost here too, and a test can make
// them unreadable.
func (r *record) withTask() journal.Run {
	run := r.row()
	if !r.open {
		return run
	}
	t := r.task
	if r.waiting != "" && t.State != journal.Blocked {
		t.Waiting = strings.Split(r.waiting, "\n")
	}
	var err error
	t.Attempts, err = driver.DecodeAttempts(r.attempts)
	driver.NoteUnreadable(&run, "attempts", err)
	run.Task = &t
	return run
}

// event returns a copy of a stored event, with the payload of the message it consumes.
func (r *record) event(stored *journal.Event) journal.Event {
	ev := *stored
	if n := ev.Inbox; n > 0 && int(n) <= len(r.inbox) {
		ev.Payload = r.inbox[n-1].Payload
	}
	ev.Payload, ev.Issued = clonePayload(ev.Payload), slices.Clone(ev.Issued)
	return ev
}

// terminal returns the terminal event of a closed run, or nil. It is the newest of the last
// generation, because nothing is written after it (J7).
func (r *record) terminal() *journal.Event {
	if r.open || len(r.events) == 0 {
		return nil
	}
	ev := r.event(&r.events[len(r.events)-1])
	return &ev
}

// message returns a copy of the message with a number, which must exist.
func (r *record) message(n journal.InboxSeq) journal.Message {
	m := r.inbox[n-1]
	m.Payload = clonePayload(m.Payload)
	return m
}

// newest returns the seq and the time of the newest event of the generation; zero if there is none.
func (r *record) newest() (journal.Seq, time.Time) {
	if len(r.events) == 0 {
		return 0, time.Time{}
	}
	last := &r.events[len(r.events)-1]
	return last.Seq, last.Time
}
