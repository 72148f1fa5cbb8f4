package waiters

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Nothing is kept of a run that nobody waits for any more: clients live long.
func TestNothingIsKeptOfWhoHasLeft(t *testing.T) {
	l := New(driver.New(&endStore{}, nil), Options{Poll: time.Hour}).list
	id, wt := journal.NewRunID(), &waiter{local: true}
	l.add(id, wt)
	l.askState(id, wt)
	if len(l.waiting) != 1 || len(l.toRead) != 1 || len(l.stateAt) != 1 {
		t.Fatalf("one waits, and kept are %v, %v and %v", l.waiting, l.toRead, l.stateAt)
	}
	_ = l.forget(id, wt)
	if len(l.waiting)+len(l.toRead)+len(l.stateAt) != 0 || l.stop != nil {
		t.Errorf("nobody waits, and kept are %v, %v and %v", l.waiting, l.toRead, l.stateAt)
	}
}

// Who gets an end that is remembered has not waited, so nobody else has to hear of it.
func TestWhoHasNotWaitedIsNotAnnounced(t *testing.T) {
	l, told := New(driver.New(&endStore{}, nil), Options{Poll: time.Hour}).list, 0
	l.announce = func() { told++ }
	id, end := journal.NewRunID(), &journal.Event{Kind: journal.RunCompleted}
	l.recent.add(id, end, 1, true)
	if _, got := l.add(id, &waiter{}); got != end || told != 0 {
		t.Errorf("who asks for a remembered end got %v, and %d announcements were made", got, told)
	}
	l.add(journal.NewRunID(), &waiter{})
	if told != 1 {
		t.Errorf("one waits, and %d announcements were made", told)
	}
}
