package driver_test

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// announcing is a store that takes starts and messages, and keeps what is to be called after the
// commit.
type announcing struct {
	accepting
	done []func()
}

func (s *announcing) Start(_ context.Context, _ journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	return make([]journal.Started, len(starts)), nil
}

func (s *announcing) Send(_ context.Context, _ journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	return make([]journal.Sent, len(messages)), nil
}

func (s *announcing) Hints() driver.Hints { return announcements{nil, s} }

type announcements struct {
	driver.Hints
	s *announcing
}

func (a announcements) AfterCommit(_ context.Context, _ journal.Tx, done func()) {
	a.s.done = append(a.s.done, done)
}

func (announcements) Notify([]driver.Hint) {}

type callersTx struct{ journal.Tx }

// What waits for the commit of a caller's transaction, which may take minutes, does not keep the
// payloads.
func TestAfterCommitKeepsNoPayloads(t *testing.T) {
	t.Parallel()
	s := &announcing{}
	j := driver.New(s, nil)
	var kept []weak.Pointer[[1 << 20]byte]
	payload := func() journal.Payload {
		data := new([1 << 20]byte)
		kept = append(kept, weak.Make(data))
		return journal.Payload{Data: data[:]}
	}
	run := journal.NewRunID()
	_, err := j.Start(t.Context(), callersTx{}, []journal.Start{{Workflow: "flow", Input: payload(),
		Message: &journal.Message{Kind: journal.MessageSignal, Name: "sig", Payload: payload()}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = j.Send(t.Context(), callersTx{}, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "sig", Payload: payload()}}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for i, p := range kept {
		if p.Value() != nil {
			t.Errorf("payload %d is kept", i)
		}
	}
	if len(s.done) != 2 {
		t.Fatalf("%d calls are announced, want 2", len(s.done))
	}
	for _, done := range s.done {
		done()
	}
}
