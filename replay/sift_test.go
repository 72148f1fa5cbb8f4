package replay_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// backlog is the time in which code looks at n signals that have come during a step, of which all
// but each tenth do not decode. The code counts those that do.
func backlog(t *testing.T, n int) time.Duration {
	t.Helper()
	pending, first := 0, -1
	m := replay.New(define(func(c ctx) (string, error) {
		if _, err := step(c, "work"); err != nil {
			return "", err
		}
		pending = number.Pending(c)
		v, err := number.Receive(c)
		first = v
		if err != nil {
			return "", err
		}
		return approved.Receive(c)
	}), replay.Info{}, journal.New(nil, nil))
	defer m.Close()
	apply := func(ev journal.Event) {
		t.Helper()
		ev.Seq, ev.Time = m.LastSeq()+1, epoch
		if err := m.Step(&ev); err != nil {
			t.Fatal(err)
		}
	}
	apply(journal.Event{Kind: journal.RunStarted})
	for i := range n {
		payload := journal.Payload{Data: []byte(`"bad"`)}
		if i%10 == 9 {
			payload.Data = []byte("7")
		}
		apply(journal.Event{Kind: journal.SignalReceived, Name: "number", Inbox: journal.InboxSeq(i + 1), Payload: payload})
	}
	began := time.Now()
	apply(journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "work", Payload: journal.Payload{Data: []byte(`"done"`)}})
	took := time.Since(began)
	if d := m.Take(); pending != n/10 || first != 7 || len(d.SetAside) != n-n/10 {
		t.Errorf("of %d signals %d are pending, %d set aside, the first is %d", n, pending, len(d.SetAside), first)
	}
	return took
}

// TestBacklogOfBadSignals: whoever sends many signals that do not decode makes a look at them cost
// as much as they are, and not the square of it.
func TestBacklogOfBadSignals(t *testing.T) {
	const n, times = 500, 64
	few, many := time.Hour, time.Hour
	for range 3 {
		few, many = min(few, backlog(t, n)), min(many, backlog(t, n*times))
	}
	if many > few*times*16 { // the square of it is 64
		t.Errorf("%d signals take %v, %d times as many take %v", n, few, times, many)
	}
	t.Logf("%d signals: %v, %d: %v", n, few, n*times, many)
}
