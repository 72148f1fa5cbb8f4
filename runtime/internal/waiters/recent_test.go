package waiters

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// What is remembered of ends is bounded, however many runs close: the oldest is forgotten first,
// and one that has come again counts by its last time.
func TestRememberedEndsAreBounded(t *testing.T) {
	r := newRecent()
	end := &journal.Event{Kind: journal.RunCompleted}
	oldest, again := journal.NewRunID(), journal.NewRunID()
	r.add(again, end, 1, true)
	r.add(oldest, end, 1, true)
	for range recentMax - 3 {
		r.add(journal.NewRunID(), end, 1, true)
	}
	r.leave(again, 1)
	r.add(journal.NewRunID(), end, 1, true)
	r.add(journal.NewRunID(), end, 1, true)
	if len(r.ends) > recentMax || r.order.Len() > recentMax {
		t.Errorf("%d ends and their order of %d are kept, the limit is %d", len(r.ends), r.order.Len(), recentMax)
	}
	if _, known := r.find(oldest); known {
		t.Error("the oldest end is kept although the limit is reached")
	}
	if _, known := r.find(again); !known {
		t.Error("an end that has come again is forgotten")
	}
}
