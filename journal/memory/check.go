package memory

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// checkEffects refuses replies, children and generations that make no sense. front is the inbox
// behind the commit. A store need not check these: the engine never writes them. The reference
// does, so that tests of the engine fail where a wrong turn is written and not where somebody reads
// it.
func (r *record) checkEffects(c *driver.Commit, front *inboxFront) error {
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

// checkContinue allows a generation to carry over what this one has seen of its inbox, and nothing
// that was consumed before it.
func (r *record) checkContinue(c *driver.Commit, front *inboxFront) error {
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
