package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// ClaimRequest asks for due tasks of some routes.
type ClaimRequest struct {
	Node   journal.NodeID
	Routes []journal.Route
	Max    int // 0 claims nothing and only reports Attention and NextDue
	// Reconcile also returns every task that Node owns but never committed to: an earlier
	// claim's answer may have been lost. The caller drops those it knows.
	Reconcile bool
}

// Claimed is a task now owned by the node, with its run's identity.
type Claimed struct {
	Task journal.Task
	Run  journal.Run // without Terminal and Task
}

// Claim is the answer to a ClaimRequest.
type Claim struct {
	Tasks     []Claimed
	Attention []journal.RunID // runs that the node owns and that have unconsumed messages
	NextDue   time.Time       // the earliest future VisibleAt among the routes; zero for none
	Now       time.Time       // the store's clock
}
