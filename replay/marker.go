package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Changes are those of the whole run.
func (e *Env) Changes() *Changes { return &e.changes }

// Changed tells whether the code should take the new branch of a change: always, except where the
// history was made by code that did not ask. The first answer is kept in c.
//
// A new answer of true is an entry of the ledger. On replay the entry is all there is to the
// decision: if the history has it here, the code took the new branch then, else it took the old
// one.
func (e *Env) Changed(c *Changes, id string) bool {
	if _, err := e.current(); err != nil {
		callsite.Refuse(err)
	}
	e.spend()
	if answer, known := c.answers[id]; known {
		return answer
	}
	answer := false
	if e.replaying {
		answer = e.marked(id)
	} else {
		if e.foresight.ahead {
			e.undecided("change " + id)
		}
		answer = e.mark(id)
	}
	c.remember(id, answer)
	return answer
}

// mark records the new branch of a change.
func (l *ledger) mark(id string) bool {
	l.issueUnanswered(journal.Issued{Kind: journal.CommandChange, Name: id})
	return true
}

// marked tells whether the history has the change here, perhaps after others that the code no
// longer asks about.
func (l *ledger) marked(id string) bool {
	for i := l.matched; i < len(l.event.Issued); i++ {
		w := &l.event.Issued[i]
		if w.Kind != journal.CommandChange {
			return false
		}
		if w.Name == id {
			for l.matched < i {
				l.passOver(&l.event.Issued[l.matched])
			}
			l.matched++
			l.open.add(nil)
			l.onlySteps = false
			return true
		}
	}
	return false
}
