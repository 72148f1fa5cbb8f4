package actor

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// input is something that has happened and is no event yet: a message from the inbox, or the
// outcome of a step.
type input struct {
	at      time.Time // when it happened, by the store's clock
	message *journal.Message
	step    *step // whose outcome is in result
	result  result
}

// inputs are what waits for the next turn, and how far the inbox has been read.
//
// Messages are numbered without gaps in the order of their arrival (J5). got is the newest number
// that was put into the queue, so a load asks for what follows it, and the same message twice is
// left out. news says that there may be more. A claim brings it along; a hint, the answer of a
// commit and a load that was cut set it; a load clears it at the moment when it is sent, so a
// message that arrives while the load is in flight causes another load.
//
// A message leaves the inbox when a commit has written seen: the number up to which no message
// waits. That is less than got while messages are in the queue, because a turn takes only so many.
type inputs struct {
	queue   []input // in the order of arrival
	cancels int     // cancel requests in the queue: 1 or none, because all have one key
	bytes   int     // of the queue
	got     journal.InboxSeq
	news    bool
	heavy   bool // what follows is too large for a lean load
}

// addMessages queues what a load has found after got.
func (q *inputs) addMessages(h *driver.History) {
	for _, msg := range h.Inbox {
		if msg.Number > q.got {
			q.add(input{at: msg.Time, message: &msg})
			q.got = msg.Number
		}
	}
	q.heavy = h.MoreInbox && (q.heavy || len(h.Inbox) == 0)
	if h.MoreInbox {
		q.news = true
	} else {
		q.got = max(q.got, h.Run.Task.InboxLast) // the others have been consumed, some of them without an event
	}
}

// addOutcome queues the outcome of a step.
func (q *inputs) addOutcome(s *step, res result, at time.Time) {
	s.ended = true
	in := input{at: at, step: s, result: res}
	if !res.borrowed {
		q.add(in)
		return
	}
	q.queue = append([]input{in}, q.queue...) // no turn without it could be written
	q.bytes += in.size()
}

// borrowed tells whether the next turn ends a transaction for which all turns wait.
func (q *inputs) borrowed() bool { return len(q.queue) > 0 && q.queue[0].result.borrowed }

func (q *inputs) add(in input) {
	q.queue = append(q.queue, in)
	q.bytes += in.size()
	q.cancels += in.cancels()
}

// size is the payload that the input holds.
func (in *input) size() int {
	if in.message != nil {
		return len(in.message.Payload.Data)
	}
	return len(in.result.output.Data)
}

// cancels is 1 for a cancel request.
func (in *input) cancels() int {
	if in.message != nil && in.message.Kind == journal.MessageCancel {
		return 1
	}
	return 0
}

// cancelFollows tells whether a cancel request waits.
func (q *inputs) cancelFollows() bool { return q.cancels > 0 }

// full tells whether enough waits for a turn, so that more need not be read.
func (q *inputs) full() bool { return len(q.queue) >= turnEventsMax || q.bytes >= turnBytesMax }

// again puts inputs back that a turn has taken, before all others.
func (q *inputs) again(taken []input) {
	for i := range taken {
		q.bytes += taken[i].size()
		q.cancels += taken[i].cancels()
	}
	q.queue = append(taken, q.queue...)
}

// first removes and returns the oldest input. There must be one. The memory of the queue is kept
// when its last element goes, which is the usual case.
func (q *inputs) first() input {
	in := q.queue[0]
	q.bytes -= in.size()
	q.cancels -= in.cancels()
	if len(q.queue) == 1 {
		q.queue[0] = input{}
		q.queue = q.queue[:0]
	} else {
		q.queue = q.queue[1:]
	}
	return in
}

// abandon gives up the transactions of outcomes that wait.
func (q *inputs) abandon(exec *executor) {
	for i := range q.queue {
		exec.rollback(q.queue[i].result.tx)
	}
}

// clear forgets what was read. Whether there may be more is not forgotten.
func (q *inputs) clear() { q.queue, q.bytes, q.cancels, q.got, q.heavy = nil, 0, 0, 0, false }

// seen is the number up to which no message waits, except those that were carried over from an
// earlier generation, whose numbers are up to carried. used is the newest message that is in an
// event; updates that were refused are in none.
func (q *inputs) seen(carried, used journal.InboxSeq) journal.InboxSeq {
	for i := range q.queue {
		if m := q.queue[i].message; m != nil && m.Number > carried {
			return m.Number - 1
		}
	}
	return max(q.got, used)
}

// stillCarried lists the messages that were carried over to this generation and wait still: those
// in the queue, and those of earlier that have not been read yet.
func (q *inputs) stillCarried(carried journal.InboxSeq, earlier *journal.Continue) (list []journal.InboxSeq) {
	for i := range q.queue {
		if m := q.queue[i].message; m != nil && m.Number <= carried {
			list = append(list, m.Number)
		}
	}
	if earlier != nil {
		for _, n := range earlier.Carried {
			if n > q.got {
				list = append(list, n)
			}
		}
	}
	return list
}
