package journal

import (
	"context"
	"time"
)

// Store is what a back end implements. Callers use [Journal], which checks everything first, so a store
// may rely on valid input and on batches of at most [BatchMax] members.
//
// A method's own error concerns the whole call and is [ErrUnavailable] if the connection failed: the call
// may then have happened or not, and every method may be repeated as it is. Errors of single
// members are in their outcomes, which stand in the order of the requests.
type Store interface {
	// Start creates runs, idempotent by id and by key (J4, J8). With a Tx the runs exist exactly if
	// and when that transaction commits; a Tx of another kind of store is ErrInvalid.
	Start(ctx context.Context, tx Tx, starts []Start) ([]Started, error)

	// Send puts messages into inboxes, in order per run (J5, J6).
	Send(ctx context.Context, tx Tx, messages []Message) ([]Sent, error)

	// Claim takes due tasks for a node, most urgent first, oldest first. A node that has left or was declared dead gets
	// none, so that a claim which arrives late makes nobody the owner.
	Claim(ctx context.Context, r ClaimRequest) (Claim, error)

	// Commit writes the turns of different runs (J1…J4, J6, J7). A member with a Tx is the only one
	// of its call.
	Commit(ctx context.Context, commits []Commit) ([]Outcome, error)

	// Load returns the histories of many runs in one round trip, each as of one moment.
	Load(ctx context.Context, requests []LoadRequest) ([]History, error)

	// List returns runs, newest first.
	List(ctx context.Context, f ListFilter) (RunPage, error)

	// Admin applies an operator's action: ErrNotFound, ErrOpen, ErrClosed.
	Admin(ctx context.Context, a AdminAction) error

	// Join makes a new node with a lease.
	Join(ctx context.Context, n Node) (Membership, error)

	// Nodes lists the nodes whose lease is valid.
	Nodes(ctx context.Context) ([]Node, error)

	// Hints returns the store's way to tell other processes that something happened.
	Hints() Hints
}

// TxStore is implemented by stores that let a step's own SQL commit together with its event.
type TxStore interface {
	// Begin opens a transaction. Its Value refuses to be committed or rolled back by user code.
	Begin(ctx context.Context) (Tx, error)
}

// LoadRequest asks for a run's history.
type LoadRequest struct {
	Run        RunID
	AfterSeq   Seq      // only events behind this one, of the current generation
	AfterInbox InboxSeq // only unconsumed messages behind this one
	InboxOnly  bool     // no events
	Limit      int      // events at most; 0 for all
	Answer     InboxSeq // nothing but the run row, its terminal event and the reply to this update; 0 for none
}

// History is what is known of a run.
type History struct {
	Run    Run       // Terminal only for an Answer request; Task is set while it is open
	Events []Event   // in order; payloads of consumed messages are filled in
	Inbox  []Message // in order: messages that are not consumed (J5), behind AfterInbox, at most InboxLoadMax
	Answer *Answer   // the reply asked for; nil while there is none
	Err    error     // ErrNotFound
}

// HintKind tells what happened.
type HintKind int

// The kinds of hints.
const (
	HintTasks  HintKind = iota + 1 // tasks became claimable
	HintInbox                      // a run owned by Hint.Node got a message
	HintClosed                     // a run was closed, or has answered an update
	HintScan                       // hints were lost: look at everything
	HintWaiter                     // some process waits for results, so HintClosed is worth sending
)

// Hint is news that may be lost, doubled or late. Nothing relies on it but speed.
type Hint struct {
	Kind HintKind
	Run  RunID
	Node NodeID
	At   time.Time // of a HintTasks from this process: when the tasks will be due; zero for now
	// Terminal comes with a HintClosed from this process and saves the reader a query.
	Terminal *Event
}

// Hints spreads hints between processes.
type Hints interface {
	// Notify sends soon, coalesced, without ever blocking or failing.
	Notify(hints []Hint)
	// Watch calls fn for hints of other processes until ctx ends. It reconnects by itself and calls
	// fn with HintScan once it listens, and after every gap. fn must be quick.
	Watch(ctx context.Context, fn func(Hint)) error
}
