package worker

import (
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// localStarts makes this node the owner of runs that it starts itself. Such a run needs no claim:
// the start's own transaction makes it owned, with fence 1, and it is activated with what the start
// holds.
//
// # One door
//
// Clients start runs, and turns start children. Both do it through a [StartBatch], because the
// protocol has a step on each side of the write, and each forgotten step loses runs:
//
//	enter    the gate, so that the membership does not end while the write is in flight
//	reserve  room, and set Owner on the starts that the node can execute at once
//	write    by the caller: a batch of starts, or a batch of commits with children
//	adopt    activate the runs that the store says are owned
//	else     reconcile: where the answer is unknown the run may be owned all the same
//	leave    the gate, only after adopt: Leave must not run between the write and the activation,
//	         or the actor would begin a run that belongs to nobody
//
// The room is read once a batch and not booked, so batches that are written at the same time may
// exceed LiveMax by a batch each.
type localStarts struct {
	node      journal.NodeID
	routes    func() []journal.Route // those that no pause covers
	room      func() int
	activate  func(driver.Claimed)
	needs     needs  // nil for none
	reconcile func() // asks the store at once what this node owns
	gate      startGate
}

// StartBatch is one batch of starts: call Own for each, write them, call Settle for each, then End.
// It is for one goroutine. The zero value owns nothing, as does one whose worker comes to its end.
type StartBatch struct {
	local   *localStarts // nil for none
	entered bool         // it is inside the gate
	room    int          // how many more starts may be owned
	unknown bool         // the answer to an owning start was lost
}

// Own sets s.Owner if the node can execute the run at once: it has registered the route, there is
// room, and the start has no delay and no limits. Those of its workflow and its queue are added
// here, if the node knows them. A start that comes with an owner was part of a batch before, of
// which it is not known whether it was written; the owner stays, unless the membership ends.
func (b *StartBatch) Own(s *journal.Start) {
	if b.local == nil {
		s.Owner = 0 // of an earlier try
		return
	}
	if !b.entered {
		if !b.local.gate.enter() {
			b.local, s.Owner = nil, 0 // the membership ends
			return
		}
		b.entered, b.room = true, b.local.room()
	}
	if b.local.needs.add(s) && b.room > 0 && b.local.canRun(s) {
		s.Owner = b.local.node
		b.room--
	}
}

// Settle takes the answer to a start that was written. A nil answer says that there is none: the
// write failed, was refused as a whole, or an earlier try of it took effect.
func (b *StartBatch) Settle(s *journal.Start, answer *journal.Started) {
	switch {
	case s.Owner == 0:
	case answer == nil:
		b.unknown = true
	case answer.Owned:
		b.local.adopt(s, answer)
	}
}

// End ends the batch. It must be called even if nothing was written.
func (b *StartBatch) End() {
	if !b.entered {
		return
	}
	if b.unknown {
		b.local.reconcile()
	}
	b.local.gate.leave()
}

// needs are actor.Options.Needs.
type needs func(r journal.Route, input journal.Payload, labels map[string]string, has []journal.LimitNeed) ([]journal.LimitNeed, error)

// add adds to a start what its workflow and its queue need of limits. It returns false if that
// cannot be told: the run is left to a claim, and blocked there with the reason.
func (n needs) add(s *journal.Start) bool {
	if n == nil || s.Owner != 0 {
		return true
	}
	all, err := n(journal.Route{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version}, s.Input, s.Labels, s.Limits)
	if len(all) > 0 && err == nil {
		s.Limits = all
	}
	return err == nil
}

func (l *localStarts) canRun(s *journal.Start) bool {
	route := journal.Route{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version}
	return s.Delay == 0 && len(s.Limits) == 0 && slices.Contains(l.routes(), route)
}

// adopt activates a run that this node owns since its start. The task is what the start's
// transaction wrote, so nothing need be read.
func (l *localStarts) adopt(s *journal.Start, o *journal.Started) {
	run := journal.Run{
		ID: o.Run, Key: s.Key, Workflow: s.Workflow, Version: s.Version, Queue: s.Queue, Priority: s.Priority,
		Labels: maps.Clone(s.Labels), Input: s.Input, Trace: s.Trace, Generation: 1,
		CreatedAt: o.StartAt, StartAt: o.StartAt, Parent: s.Parent,
		Headers: maps.Clone(s.Headers), Timeout: s.Timeout, OnFailure: s.OnFailure,
	}
	l.activate(driver.Claimed{Run: run, Task: journal.Task{
		Run: o.Run, Generation: 1, Queue: s.Queue, Workflow: s.Workflow, Version: s.Version, Priority: s.Priority,
		Owner: l.node, Fence: journal.FenceAtBirth, InboxLast: o.Sent.Number,
	}})
}
