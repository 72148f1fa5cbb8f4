package runtime

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// nursery sees to the children that a batch of commits starts in the ownership of this node. The zero value does nothing.
type nursery struct {
	inc *incarnation // nil if none of the children is to be owned
}

// enter makes the incarnation the owner of the children that it can execute at once. If it returns true, leave must follow.
func (n *nursery) enter(inc *incarnation, batch []journal.Commit) bool {
	room := 0
	for i := range batch {
		starts := batch[i].Starts
		for k := range starts {
			if n.inc == nil { // the first child of the batch
				if !inc.births.enter() {
					return false // it leaves
				}
				n.inc, room = inc, inc.room()
			}
			if room > 0 && !cancels(&batch[i], starts[k].ID) && inc.takes(&starts[k]) {
				room--
			}
		}
	}
	return n.inc != nil
}

// cancels tells whether the turn that starts a child cancels it as well. Born here the child would begin to work before it reads
// its inbox; a claim reads that first.
func cancels(c *journal.Commit, child journal.RunID) bool {
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Kind == journal.MessageCancel && m.Run == child {
			return true
		}
	}
	return false
}

func (n *nursery) leave() { n.inc.births.leave() }

// adopt activates the children that were born. Where that is not known, the next claim asks.
func (n *nursery) adopt(batch []journal.Commit, out []journal.Outcome) {
	if n.inc == nil {
		return
	}
	unknown := false
	for i := range batch {
		for k := range batch[i].Starts {
			st := &batch[i].Starts[k]
			switch {
			case st.Owner == 0:
			case k >= len(out[i].Started): // refused, or an earlier try wrote it, or nobody knows
				unknown = true
			case out[i].Started[k].Owned:
				n.inc.adopt(st, &out[i].Started[k])
			}
		}
	}
	if unknown {
		n.inc.doubt.raise()
		n.inc.expect(time.Time{})
	}
}
