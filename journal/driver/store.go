package driver

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// Store is what a back end implements. Callers use [Journal], which checks everything first, so a
// store may rely on valid input and on batches of at most journal.BatchMax members.
//
// A method's own error concerns the whole call and is journal.ErrUnavailable if the connection
// failed: the call may then have happened or not, and every method may be repeated as it is. It is
// journal.ErrStoreClosed after the program has closed the store, from Watch too. Errors of single
// members are in their outcomes, which stand in the order of the requests; ErrHeld is one for those
// who ask for it, see Impatient.
type Store interface {
	journal.Store

	// Start creates runs, idempotent by id and by key (J4, J8). With a Tx the runs exist exactly if
	// and when that transaction commits; a Tx of another kind of store is ErrInvalid.
	Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error)

	// Send puts messages into inboxes, in order per run (J5, J6).
	Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error)

	// Claim takes due tasks for a node: r.ByAge() of them because they are the oldest, the others
	// because they are the most urgent, and among equals the oldest. A node that has left or was
	// declared dead gets none, so that a claim which arrives late makes nobody the owner.
	Claim(ctx context.Context, r ClaimRequest) (Claim, error)

	// Commit writes the turns of different runs (J1…J4, J6, J7). A member with a Tx is the only one
	// of its call.
	Commit(ctx context.Context, commits []Commit) ([]Outcome, error)

	// Load returns the histories of many runs in one round trip, each as of one moment.
	Load(ctx context.Context, requests []LoadRequest) ([]History, error)

	// Ends returns, in the order of the ids, those runs that are closed, with their outcomes, and
	// those that do not exist. It reads and sends nothing else, because it is asked about all runs
	// for which somebody waits, again and again.
	Ends(ctx context.Context, runs []journal.RunID) ([]End, error)

	// Admin applies an operator's action and writes its row of the audit (J11, J12): ErrNotFound,
	// ErrOpen, ErrClosed, ErrNoNode, ErrNoView.
	Admin(ctx context.Context, a AdminAction) (AdminOutcome, error)

	// Pauses returns the pauses of scopes, by their scopes.
	Pauses(ctx context.Context) ([]journal.Pause, error)

	// Views returns the saved views, by their names.
	Views(ctx context.Context) ([]journal.View, error)

	// Audit returns entries of the audit, newest first (J12).
	Audit(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error)

	// Limits tells of limits, of what is held of them and of who waits (J14).
	Limits(ctx context.Context, f journal.LimitFilter) (journal.LimitPage, error)

	// Join makes a new node with a lease.
	Join(ctx context.Context, n journal.Node) (Membership, error)

	// Hints returns the store's way to notify other processes of what happened.
	Hints() Hints
}
