package memory

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What a generation had, and what came into the inbox, is kept.
func TestRunKeepsGenerations(t *testing.T) {
	t.Parallel()
	m, ctx := New(nil), t.Context()
	node, err := m.Join(ctx, journal.Node{Name: "n", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	run := journal.NewRunID()
	started, err := m.Start(ctx, nil, []journal.Start{{ID: run, Workflow: "w", Version: 1, Queue: "q", Priority: 3, Owner: node.ID()}})
	if err != nil || !started[0].Owned {
		t.Fatal(started, err)
	}
	if _, err := m.Send(ctx, nil, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "s", Key: "k"}}); err != nil {
		t.Fatal(err)
	}
	out, err := m.Commit(ctx, []driver.Commit{{
		Run: run, Node: node.ID(), Fence: journal.FenceAtBirth, Generation: 1, InboxSeen: 1,
		Events: []journal.Event{
			{Seq: 1, Kind: journal.RunStarted}, {Seq: 2, Kind: journal.SignalReceived, Name: "s", Inbox: 1}, {Seq: 3, Kind: journal.RunContinued},
		},
		Continue: &journal.Continue{Version: 1, Seen: 1},
	}})
	if err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	r, ok := m.Run(run)
	if !ok || len(r.Past) != 1 || len(r.Past[0]) != 3 || len(r.Messages) != 1 || r.Messages[0].Key != "k" || len(r.Answers)+len(r.Inbox) != 0 {
		t.Errorf("%+v", r)
	}
	if none, ok := m.Run(journal.NewRunID()); ok {
		t.Errorf("a run that does not exist is %+v", none)
	}
}
