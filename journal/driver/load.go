package driver

import (
	"math"

	"github.com/reprise-run/reprise/journal"
)

// LoadRequest asks for a run's history, or for the part of it that the caller has not seen. A node
// that kept its machine asks with AfterSeq and AfterInbox, one that only serves messages with
// InboxOnly, and a caller that waits for an update with Answer.
//
// # Pages
//
// A history may be larger than memory, and than what a slow network carries in reasonable time. So
// an answer is a page: it has at most Limit events and about Bytes bytes of them, and of messages
// about as many. [History.More] and [History.MoreInbox] say what was left out, and the caller asks
// for what follows the last event and the last message that it has.
//
// Two pages are of two moments. They fit together nevertheless, if the caller compares what a page
// says with what the page before it said:
//
//   - An owner compares owner, fence and generation. While they are its own nobody else appends to
//     the history (J3), and it does so itself only between loads. A history is never rewritten
//     (J1), so what follows an event follows it in every snapshot. In a store that went back in
//     time the claim is gone with its fence, or the history is what it was at the claim; and each
//     event has the link of the one before it, which the machine compares when it replays the page.
//   - A reader that does not own the run compares the generation. In the same one there may be more
//     events than at the time of the last page, which belong to what it reads. Another generation
//     makes what was read void, and the reader begins again.
//
// A message that a page of the inbox has may be consumed by an event of a later page of the
// history. So messages come with the last page of a history only.
type LoadRequest struct {
	Run        journal.RunID
	AfterSeq   journal.Seq      // only events behind this one, of the current generation
	AfterInbox journal.InboxSeq // only unconsumed messages behind this one
	InboxOnly  bool             // no events
	// Generation asks for the events of this generation instead of the current one, and for no
	// messages; 0 for the current one. One that the run has not, or not here, has no events.
	Generation journal.Generation
	EventsOnly bool // no messages
	Limit      int  // events at most; 0 and what is more than LoadEventsMax mean that
	Bytes      int  // of events, and of messages, at most; 0 and what is more than LoadBytesMax mean that
	// Lean leaves out an event or a message that is larger than Bytes by itself. Without it one
	// comes, however large it is, so that a caller who asks again and again reaches the end.
	Lean bool
	// Owned says that the caller has the run from a claim. A store may leave out of the answer what
	// the claim had: Run has at least ID, Generation, Freezes and the Task's owner, fence,
	// generation, newest message and state.
	Owned bool
	// Apart is Claimed.Apart of a run whose owner has not loaded it since: the answer has all of
	// the run, whatever Owned says. Calls are divided by it.
	Apart int
	// Answer asks for the reply to this update; 0 for none. Of the run there is nothing but what
	// tells why there is no reply: id, status, terminal event, and state and problem of the task.
	Answer journal.InboxSeq
}

// StateOnly as LoadRequest.Answer is the number of an update that no run has: the answer tells in
// what state the run is, and nothing else is read, such as its input. It is for those who poll.
const StateOnly journal.InboxSeq = math.MaxInt64

// History is what is known of a run, as of one moment. Run.Task, Events and Inbox agree with each
// other: a store reads them from one snapshot, since an event that consumes a message must not
// appear beside the message that it consumed.
type History struct {
	Run       journal.Run       // Terminal only for an Answer request; Task is set while it is open
	Events    []journal.Event   // in order; payloads of consumed messages are filled in
	More      bool              // events follow that are on further pages; Inbox is empty then
	Inbox     []journal.Message // in order: messages that are not consumed (J5), behind AfterInbox, at most InboxLoadMax
	MoreInbox bool              // messages follow
	Answer    *journal.Answer   // the reply asked for; nil while there is none
	// Err is journal.ErrNotFound, or a *journal.UnreadableError: then the other fields hold what
	// can be read, Events up to the first one that cannot, and More is false.
	Err error
}

// LoadRowBytes is what a page counts for each event and each message beside its payload and what it
// records.
const LoadRowBytes = 128

// The largest page. Its events are replayed in some milliseconds, and a slow network carries it in
// seconds. LoadEventsMax also bounds what a store looks at to find where a page ends.
const (
	LoadBytesMax  = 8 << 20
	LoadEventsMax = 4096
)

// GenerationOf is the generation whose events the answer has, if the current one is this.
func (q *LoadRequest) GenerationOf(current journal.Generation) journal.Generation {
	if q.Generation > 0 {
		return q.Generation
	}
	return current
}

// NoInbox tells whether the answer has no messages.
func (q *LoadRequest) NoInbox() bool { return q.EventsOnly || q.Generation > 0 }

// EventsMax is how many events the answer may have.
func (q *LoadRequest) EventsMax() int {
	switch {
	case q.InboxOnly || q.Answer != 0:
		return 0
	case q.Limit <= 0:
		return LoadEventsMax
	}
	return min(q.Limit, LoadEventsMax)
}

// BytesMax is how many bytes of events, and of messages, the answer may have.
func (q *LoadRequest) BytesMax() int {
	if q.Bytes <= 0 {
		return LoadBytesMax
	}
	return min(q.Bytes, LoadBytesMax)
}

// Page counts what an answer has, for stores that fill it row by row. The zero Page is full.
type Page struct {
	rows, bytes int
	one         bool // a row fits however large it is
}

// NewPage returns an empty page of at most so many rows for the request.
func NewPage(q *LoadRequest, rows int) Page {
	return Page{rows: rows, bytes: q.BytesMax(), one: !q.Lean}
}

// Fits tells whether a row of so many bytes has room, and counts it. After a row that has none the
// page is full.
func (p *Page) Fits(bytes int) bool {
	bytes += LoadRowBytes
	if p.rows == 0 || bytes > p.bytes && !p.one {
		*p = Page{}
		return false
	}
	p.rows, p.bytes, p.one = p.rows-1, p.bytes-bytes, false
	return true
}

// loadCallBytes bounds the pages that a store is asked for in one call, and loadAnswerBytes is what
// an update's answer counts there.
const (
	loadCallBytes   = 4 * LoadBytesMax
	loadAnswerBytes = 256 << 10
)

// inPages calls fn for pieces of at most BatchMax requests, whose pages together are bounded.
func inPages(requests []LoadRequest, fn func(from, to int) error) error {
	from, sum := 0, 0
	for i := range requests {
		bytes := requests[i].BytesMax() + requests[i].Apart
		if requests[i].Answer != 0 {
			bytes = loadAnswerBytes
		}
		if i > from && (sum+bytes > loadCallBytes || i-from == journal.BatchMax) {
			if err := fn(from, i); err != nil {
				return err
			}
			from, sum = i, 0
		}
		sum += bytes
	}
	if from == len(requests) {
		return nil
	}
	return fn(from, len(requests))
}
