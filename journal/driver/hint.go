package driver

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// HintKind tells what happened.
type HintKind int

// The kinds of hints.
const (
	HintTasks      HintKind = iota + 1 // tasks became claimable
	HintInbox                          // a run owned by Hint.Node got a message
	HintClosed                         // a run was closed, or has answered an update; without a Run: some runs were
	HintScan                           // hints were lost: look at everything
	HintWaiter                         // some process waits for results, so HintClosed is worth sending
	HintTerminated                     // a run was closed by somebody else than its owner, who should look
	HintNode                           // a node has joined: a renewal tells what follows from that
	HintLimit                          // Hint.Node was granted what it waits for; 0: each node looks where it waits
	HintRunLimits                      // runs wait for limits, or have ended that held some: one node should take that in
)

// Hint says that something happened. It may be lost, doubled, late, or sent about something that
// did not happen after all. Nothing relies on it but speed: every loop that a hint wakes also
// polls.
type Hint struct {
	Kind HintKind
	Run  journal.RunID
	Node journal.NodeID
	At   time.Time // of a HintTasks or HintRunLimits from this process: when there will be something to do; zero for now
	// Terminal comes with a HintClosed from this process and saves the reader a query. Generation
	// is the one that it has ended: an operator may have gone back in the run by the time it is
	// heard.
	Terminal   *journal.Event
	Generation journal.Generation
}

// Hints spreads hints between processes.
type Hints interface {
	// Notify sends soon, coalesced, without ever blocking or failing.
	Notify(hints []Hint)
	// Watch calls fn for hints of other processes until ctx ends. It reconnects by itself and calls
	// fn with HintScan once it listens, and after every gap. fn must be quick.
	Watch(ctx context.Context, fn func(Hint)) error
}
