package driver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// boxTx is a step's transaction on a boxStore.
type boxTx struct{ box driver.Outbox }

func (*boxTx) Value() any                     { return nil }
func (*boxTx) Rollback(context.Context) error { return nil }
func (t *boxTx) Outbox() *driver.Outbox       { return &t.box }

// boxStore takes every commit, has no runs with keys, and knows how some runs have ended.
type boxStore struct {
	accepting
	ends  map[journal.RunID]error // nil for a closed one
	asked int
}

func (s *boxStore) List(context.Context, journal.ListFilter) (journal.RunPage, error) {
	return journal.RunPage{}, nil
}

func (s *boxStore) Ends(_ context.Context, runs []journal.RunID) (ends []driver.End, err error) {
	s.asked++
	for _, run := range runs {
		if err, ok := s.ends[run]; ok {
			ends = append(ends, driver.End{Run: run, Err: err})
		}
	}
	return ends, nil
}

// What a body starts and sends gets its ids and keys when the body asks for it, and is not prepared
// again at the commit: that would refuse the keys, which are reserved ones then.
func TestOutboxIsPreparedOnce(t *testing.T) {
	t.Parallel()
	j := driver.New(&boxStore{}, nil)
	tx := &boxTx{}
	signal := journal.Message{Kind: journal.MessageSignal, Name: "sig"}
	update := journal.Message{Kind: journal.MessageUpdate, Name: "up", Key: "k"}
	started, err := j.Start(t.Context(), tx, []journal.Start{{Workflow: "flow", Key: "a", Message: &signal}, {Workflow: "flow", Key: "b", Message: &update}})
	if err != nil || started[0].Err != nil || started[1].Err != nil {
		t.Fatal(err, started)
	}
	run := journal.NewRunID()
	sent, err := j.Send(t.Context(), tx, []journal.Message{{Run: run, Kind: journal.MessageUpdate, Name: "up"}, {Run: run, Kind: journal.MessageUpdate, Name: "up", Key: "k"},
		{Run: run, Kind: journal.MessageSignal, Name: "sig"}, {Run: run, Kind: journal.MessageCancel}})
	for i := range sent {
		err = errors.Join(err, sent[i].Err)
	}
	if err != nil {
		t.Fatal(err)
	}
	commits := []driver.Commit{{Run: run, Tx: tx, Messages: []journal.Message{{Run: run, Kind: journal.MessageCancel}}}}
	for range 2 { // and a commit that is submitted again is what it was
		if _, err := j.Commit(t.Context(), commits); err != nil {
			t.Fatal(err)
		}
		c := &commits[0]
		if len(c.Starts) != 2 || len(c.Messages) != 5 {
			t.Fatalf("%d starts and %d messages", len(c.Starts), len(c.Messages))
		}
		if own, kept := c.Messages[0].Key, c.Messages[2].Key; own != journal.CancelKey || kept != "~update/k" {
			t.Errorf("keys %q and %q", own, kept)
		}
		if key := c.Starts[1].Message.Key; key != "~update/k" {
			t.Errorf("the key of a message with a start is %q", key)
		}
	}
}

// The receivers of one call are asked about by one call of the store, and each message has its own
// answer.
func TestOutboxAsksForAllReceiversAtOnce(t *testing.T) {
	t.Parallel()
	open, closed, unknown := journal.NewRunID(), journal.NewRunID(), journal.NewRunID()
	s := &boxStore{ends: map[journal.RunID]error{closed: nil, unknown: journal.ErrNotFound}}
	j := driver.New(s, nil)
	tx := &boxTx{}
	started, err := j.Start(t.Context(), tx, []journal.Start{{Workflow: "flow"}})
	if err != nil {
		t.Fatal(err)
	}
	var messages []journal.Message
	want := map[journal.RunID]error{open: nil, closed: journal.ErrClosed, unknown: journal.ErrNotFound, started[0].Run: nil, {}: journal.ErrInvalid}
	for range 20 {
		for run := range want {
			messages = append(messages, journal.Message{Run: run, Kind: journal.MessageSignal, Name: "sig"})
		}
	}
	sent, err := j.Send(t.Context(), tx, messages)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sent {
		if !errors.Is(sent[i].Err, want[messages[i].Run]) {
			t.Errorf("message %d: %v, want %v", i, sent[i].Err, want[messages[i].Run])
		}
	}
	if s.asked != 1 {
		t.Errorf("the store was asked %d times, want once", s.asked)
	}
}

// A body that reaches a limit, or comes too late, is told how to go on.
func TestOutboxSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	j := driver.New(&boxStore{}, nil)
	tx := &boxTx{}
	send := func() error {
		sent, err := j.Send(t.Context(), tx, []journal.Message{{Run: journal.NewRunID(), Kind: journal.MessageSignal, Name: "sig"}})
		return errors.Join(err, sent[0].Err)
	}
	var err error
	for n := 0; err == nil && n <= 10_000; n++ {
		err = send()
	}
	if limit, ok := errors.AsType[*journal.LimitError](err); !ok || !strings.Contains(limit.How, "further steps") {
		t.Errorf("at the limit: %v", err)
	}
	tx.box.End()
	if err := send(); err == nil || !strings.Contains(err.Error(), "before the body returns") {
		t.Errorf("after the end: %v", err)
	}
}
