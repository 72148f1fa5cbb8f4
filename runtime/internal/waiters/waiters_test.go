package waiters

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const pollOfTests = 1500 * time.Millisecond

// listStore answers lists as a test says. Other verbs are not for it.
type listStore struct {
	driver.Store
	list func(context.Context, journal.ListFilter) (journal.RunPage, error)
}

func (s *listStore) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	return s.list(ctx, f)
}

// Hints implements driver.Store: there are none.
func (s *listStore) Hints() driver.Hints { return noHints{} }

type noHints struct{}

func (noHints) Notify([]driver.Hint) {}
func (noHints) Watch(ctx context.Context, _ func(driver.Hint)) error {
	<-ctx.Done()
	return nil
}

// A waiter that registers while the loop of an earlier one ends is read by the next loop at once,
// not at its poll: the ended loop may have taken what is to be read, and the signal that wakes the
// loop.
func TestEndedLoopPassesItsWorkOn(t *testing.T) {
	s := &listStore{list: func(ctx context.Context, _ journal.ListFilter) (journal.RunPage, error) {
		return journal.RunPage{}, ctx.Err()
	}}
	w := New(driver.New(s, nil), Options{Poll: pollOfTests})
	id := journal.NewRunID()
	w.list.waiting[id] = []*waiter{{resolved: make(chan resolution, 1)}}
	w.list.toRead[id] = true
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.reader.read(ended)
	if !w.list.toRead[id] || len(w.list.wake) != 1 {
		t.Errorf("to be read: %v, wake signals: %d", w.list.toRead[id], len(w.list.wake))
	}
}

// Large outputs are not kept in memory; whoever asks late reads them.
func TestLargeResultsAreReadAgain(t *testing.T) {
	id := journal.NewRunID()
	terminal := &journal.Event{Kind: journal.RunCompleted, Payload: journal.Payload{Data: make([]byte, recentBytesMax+1)}}
	s := &listStore{list: func(context.Context, journal.ListFilter) (journal.RunPage, error) {
		return journal.RunPage{Runs: []journal.Run{{ID: id, Status: journal.Completed, Terminal: terminal}}}, nil
	}}
	w := New(driver.New(s, nil), Options{Poll: pollOfTests, HintsPushed: true})
	w.Hint(driver.Hint{Kind: driver.HintClosed, Run: id, Terminal: terminal})
	if ev, closed := w.list.recent.find(id); ev != nil || !closed {
		t.Error("a large output is kept")
	}
	began := time.Now()
	if ev, err := w.AwaitEnd(t.Context(), id, true); err != nil || ev != terminal || time.Since(began) > pollOfTests/2 {
		t.Errorf("got %v, %v after %s", ev, err, time.Since(began))
	}
}
