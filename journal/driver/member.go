package driver

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Membership is a node's own hold on its lease. Its methods may be called from several goroutines.
type Membership interface {
	ID() journal.NodeID

	// Renew extends the lease by its length from the store's now, and reports nodes that a Reap should
	// look at: their lease ran out, their process seems to be gone although it has not, or they were declared
	// dead and still own tasks. ErrNodeLost means that this node was declared dead; it must throw its actors away
	// and join anew.
	Renew(ctx context.Context) (Renewal, error)

	// Reap makes the tasks of dead nodes visible in bounded bulk statements: of nodes that no
	// longer exist or whose lease ran out, and of those suspects whose process is still gone
	// at this second look. A task whose owners died Quarantine times without a commit in
	// between is quarantined instead.
	Reap(ctx context.Context, suspects []journal.NodeID) (Reaped, error)

	// Leave ends the membership. Tasks it still owns become visible.
	Leave(ctx context.Context) error
}

// Renewal is the answer to Renew.
type Renewal struct {
	Now      time.Time
	Suspects []journal.NodeID
	// Polled tells that the store has also looked at the queue, as a Claim with Max 0 would, so that an idle node need
	// not ask a second time. A store that does not bother leaves it false.
	Polled bool
	// NextDue is the earliest VisibleAt, past or future, among the free tasks that the node serves and those it owns:
	// when it is worth claiming. Zero for none.
	NextDue time.Time
}

// Reaped tells what Reap did.
type Reaped struct {
	Nodes       []journal.NodeID // declared dead by this call
	Tasks       int              // made visible
	Quarantined int
}
