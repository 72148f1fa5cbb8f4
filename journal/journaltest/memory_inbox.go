package journaltest

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// inboxFront says which messages of a run are not consumed: those carried over to this generation that it has not named
// yet, then all behind seen. Messages are consumed in this order, by an event or by the reply that rejects them (J5).
type inboxFront struct {
	carried []journal.InboxSeq
	seen    journal.InboxSeq
}

// peek returns the number of the next message, whether it exists yet or not.
func (f *inboxFront) peek() journal.InboxSeq {
	if len(f.carried) > 0 {
		return f.carried[0]
	}
	return f.seen + 1
}

// take consumes the next message.
func (f *inboxFront) take() {
	if len(f.carried) > 0 {
		f.carried = f.carried[1:]
	} else {
		f.seen++
	}
}

// unread returns the numbers of the messages behind one that are not consumed, at most so many.
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

// consume returns the inbox behind the events and the rejections of a commit.
func (r *record) consume(c *journal.Commit) (inboxFront, error) {
	front := r.front
	rejected := map[journal.InboxSeq]bool{}
	for _, rep := range c.Replies {
		if rep.Rejected {
			rejected[rep.Number] = true
		}
	}
	skip := func() {
		for rejected[front.peek()] {
			delete(rejected, front.peek())
			front.take()
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
		front.take()
	}
	if skip(); len(rejected) > 0 {
		return front, fmt.Errorf("messages %v are rejected, and %d is next (J5)", rejected, front.peek())
	}
	return front, nil
}

// checkEffects refuses replies, children and generations that make no sense. front is the inbox behind the commit.
func (r *record) checkEffects(c *journal.Commit, front *inboxFront) error {
	replied := map[journal.InboxSeq]bool{}
	for _, rep := range c.Replies {
		n := rep.Number
		if n < 1 || int(n) > len(r.inbox) || r.inbox[n-1].Kind != journal.MessageUpdate {
			return fmt.Errorf("reply to message %d of %d, which is no update", n, len(r.inbox))
		}
		if _, ok := r.answers[n]; ok || replied[n] {
			return fmt.Errorf("message %d has a reply", n)
		}
		replied[n] = true
	}
	for i := range c.Starts {
		if p := c.Starts[i].Parent; p == nil || p.Run != c.Run || p.Generation != c.Generation {
			return fmt.Errorf("child %s has the parent %+v", c.Starts[i].ID, p)
		}
	}
	if c.Continue == nil {
		return nil
	}
	return r.checkContinue(c, front)
}

// checkContinue allows a generation to carry over what this one has seen of its inbox, and nothing that was
// consumed before it.
func (r *record) checkContinue(c *journal.Commit, front *inboxFront) error {
	next := c.Continue
	if next.Version < 1 || next.Seen < front.seen || int(next.Seen) > len(r.inbox) {
		return fmt.Errorf("generation %d begins with version %d behind message %d of %d, %d are consumed", c.Generation+1,
			next.Version, next.Seen, len(r.inbox), front.seen)
	}
	known := map[journal.InboxSeq]bool{}
	for _, n := range front.carried {
		known[n] = true
	}
	for _, list := range [][]journal.Event{r.events, c.Events} {
		for i := range list {
			known[list[i].Inbox] = true
		}
	}
	for i, n := range next.Carried {
		if n < 1 || n > next.Seen || i > 0 && n <= next.Carried[i-1] || !known[n] && n <= front.seen {
			return fmt.Errorf("generation %d begins with messages %v of %d", c.Generation+1, next.Carried, next.Seen)
		}
	}
	return nil
}
