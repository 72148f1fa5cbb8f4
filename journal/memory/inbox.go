package memory

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// inboxFront says which messages of a run are not consumed: those carried over to this generation
// that it has not named yet, then all behind seen. Messages are consumed in this order, by an event
// or by the reply that rejects them (J5).
type inboxFront struct {
	carried []journal.InboxSeq
	seen    journal.InboxSeq
}

// peek returns the number of the next message, whether it exists yet or not. Carried messages come
// first: a generation reads what the one before left unread in the order in which it came.
func (f *inboxFront) peek() journal.InboxSeq {
	if len(f.carried) > 0 {
		return f.carried[0]
	}
	return f.seen + 1
}

// advance consumes the next message. Whether it exists is the caller's business: consume looks
// first.
func (f *inboxFront) advance() {
	if len(f.carried) > 0 {
		f.carried = f.carried[1:]
	} else {
		f.seen++
	}
}

// unread returns the numbers of the messages after one that are not consumed, at most so many.
// Carried messages have smaller numbers than all others, so the result ascends.
func (r *record) unread(after journal.InboxSeq, most int) (list []journal.InboxSeq) {
	for _, n := range r.front.carried {
		if n > after && len(list) < most {
			list = append(list, n)
		}
	}
	last := journal.InboxSeq(len(r.inbox)) // numbers are positions, from 1
	for n := 1 + max(r.front.seen, after); n <= last && len(list) < most; n++ {
		list = append(list, n)
	}
	return list
}

// consume returns the inbox behind the events and the rejections of a commit. Both consume in the
// order of numbers, without a gap: an event names the next message, after those that the commit
// rejects. So a commit that skips a message, or names one that does not exist, is refused (J5).
func (r *record) consume(c *driver.Commit) (inboxFront, error) {
	front := r.front
	// A rejection has no event, so its place in the order is only known when its turn comes: skip
	// it wherever it is next.
	rejected := map[journal.InboxSeq]bool{}
	for _, rep := range c.Replies {
		if rep.Rejected {
			rejected[rep.Number] = true
		}
	}
	skip := func() {
		for rejected[front.peek()] {
			delete(rejected, front.peek())
			front.advance()
		}
	}
	for i := range c.Events {
		n := c.Events[i].Inbox
		if n == 0 {
			continue
		}
		if skip(); n != front.peek() || int(n) > len(r.inbox) {
			return front, fmt.Errorf("event %d consumes message %d of %d, and %d is next (J5)", c.Events[i].Seq, n, len(r.inbox), front.peek())
		}
		front.advance()
	}
	if skip(); len(rejected) > 0 {
		return front, fmt.Errorf("messages %v are rejected, and %d is next (J5)", rejected, front.peek())
	}
	return front, nil
}
