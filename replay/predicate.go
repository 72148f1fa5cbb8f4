package replay

import "github.com/reprise-run/reprise/internal/list"

// predicate is what a strand waits for in terms of the workflow's own variables. Nobody tells when
// it comes true, so it is tested each time all strands are blocked.
type predicate struct {
	strand *strand
	test   func() bool
	met    bool
	cond   Cond // it names the wait; nobody broadcasts it
	node   list.Node[predicate]
}

// predicates holds those that strands wait for, in the order in which they began to.
//
// They are user code, which may panic, end its goroutine or go on for ever, so it has to run on a
// strand and not on the machine's goroutine. Which strand makes no difference to what they see: the
// one that has waited longest is resumed and tests all of them, until one holds. That one's strand
// goes on alone; the others are tested again when all are blocked again, because it may have
// changed anything.
type predicates struct {
	waiting list.List[predicate]
	settled bool // none held, and nothing has happened since
	lent    bool // the strand that is resumed is to test them
}

// tester returns the strand that is to test the predicates, now that all are blocked; nil if there
// is nothing to test.
func (l *predicates) tester() *strand {
	if l.waiting.Empty() || l.settled {
		return nil
	}
	l.lent = true
	return l.waiting.First().strand
}
