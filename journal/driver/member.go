package driver

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Membership is a node's own hold on its lease. Its methods may be called from several goroutines.
//
// The lease protects all runs of a node at once, so an owner writes without asking whether it still
// owns a run: the fence in each commit decides (J3). A lease that ran out does not take runs away
// by itself. Another node's Reap does, and it does so under the lock of the node's row, so a
// renewal and a reap of the same node have an order: either the lease is longer and Reap finds it
// valid, or the node is declared dead and Renew returns [journal.ErrNodeLost].
type Membership interface {
	ID() journal.NodeID

	// Renew extends the lease by its length from the store's now. It changes nothing else, and
	// tells nothing that takes longer to find than a few rows, so that nothing else can make it
	// late. ErrNodeLost means that this node was declared dead; it must
	// throw its actors away and join anew.
	Renew(ctx context.Context) (Renewal, error)

	// Look looks at the other nodes and at the queue. It may take long and is never needed in time.
	Look(ctx context.Context) (Look, error)

	// Contact tells whether other nodes judge this one by its sessions, and since when the node has
	// heard nothing from the store: last is the local time before the newest request was sent that
	// was answered, or from which on others can judge the node, if that is later. A node that is
	// judged and has had no answer for its grace must have stopped its steps, see
	// [journal.Node.Grace]. A store whose nodes die by their lease alone answers false.
	Contact() (last time.Time, judged bool)
	// Judged gets a token when others begin to judge the node, before they can. The renewal that
	// lets them may still be on its way, and may never be answered. It has room for one token, and
	// one reader. A store that judges no node by its sessions returns nil.
	Judged() <-chan struct{}
	// Ask looks after the other nodes, and tells whether one of them seems to have died, which
	// makes a Look worthwhile. So that the cost does not grow with the number of nodes, the store
	// decides by lot which of them does so when they are asked. If need is set, Ask also asks the
	// store for a sign of life, on sessions that no other call can take, and returns when one has
	// come or ctx ends. What it heard shows in Contact. ErrNodeLost is as for Renew.
	Ask(ctx context.Context, need bool) (look bool, err error)

	// Heed returns what operators want of the node. heeded is the largest number of the pauses of
	// the answer before, by which the node says that it starts no step of a run in any of their
	// scopes (J11); 0 says nothing. A node heeds before it starts its first step, and when a
	// renewal says so. ErrNodeLost is as for Renew.
	Heed(ctx context.Context, heeded int64) (Orders, error)

	// Limits releases what the node holds or wants of limits, asks for more, and grants what
	// becomes free to whoever is first, of whatever node (J14). All of it happens in one
	// transaction, under the lock of the limits that it is about. A node has one round in flight at
	// a time, and beside it one that is Held and nothing else: that one changes nothing, and takes
	// no lock of a limit. ErrNodeLost is as for Renew; nothing of the round happens then.
	Limits(ctx context.Context, r LimitRound) (LimitAnswer, error)

	// Reap makes the tasks of dead nodes visible in bounded bulk statements: of nodes that no
	// longer exist or whose lease ran out, and of those suspects whose process is still gone
	// at this second look. What the death of an owner means for a task is said by [StrikesAfter]
	// and [StrikeWait]; one that has [QuarantineStrikes] is quarantined instead.
	Reap(ctx context.Context, suspects []journal.NodeID) (Reaped, error)

	// Owned lists all tasks that the store says the node owns, as of one moment. It may be long.
	Owned(ctx context.Context) ([]Holding, error)
	// Release makes tasks visible that the node owns under the fences given; others are left alone.
	// It counts no strike. It is for what the node does not know, or knows otherwise.
	Release(ctx context.Context, list []Holding) error
	// Leave ends the membership. Tasks it still owns become visible.
	Leave(ctx context.Context) error
}

// Orders are what operators want of a node.
type Orders struct {
	Pauses []journal.Pause // of scopes, all of them (J11)
	Drain  bool            // the node is to hand back what it has, and to leave
}

// Holding is a task that a node owns, and the state of its run.
type Holding struct {
	Run        journal.RunID
	Generation journal.Generation
	Fence      journal.Fence
	Head       journal.Head // Link is 0 while the generation has no event
	Confirmed  bool         // whether the node has committed under this fence
}

// Renewal is the answer to Renew. A node whose renewals all fail must stop before its lease is over
// by its own monotonic clock, measured from before the last successful Renew was sent: the store
// may have counted from then on.
type Renewal struct {
	Now time.Time
	// Compare asks the node to compare what it owns with [Membership.Owned] before it relies on its
	// memory: the store may have gone back in time, or a run was taken away from the node. Owned
	// answers it, so it is asked once.
	Compare bool
	// Heed asks the node to heed: what operators want of it is not what its last [Membership.Heed]
	// has answered, or it has not told what it heeds.
	Heed bool
}

// Look is the answer to Look.
type Look struct {
	// Suspects are nodes that a Reap should look at: their lease ran out, their process seems to be
	// gone although it has not, or they were declared dead and still own tasks.
	Suspects []journal.NodeID
	// Wait is the time until the first of the suspects may be declared dead: 0 if one's lease ran
	// out, so that it does not wait for the grace of another. Reap leaves a node whose process
	// seems to be gone alone until the node's own grace has passed since the first of the Looks in
	// a row that suspected it.
	Wait time.Duration
	// Polled tells that the store has also looked at the queue, as a Claim with Max 0 would, so
	// that an idle node need not ask a second time. A store that does not bother leaves it false.
	Polled bool
	// NextDue is the earliest VisibleAt, past or future, among the free tasks that the node serves
	// and those it owns: when it is worth claiming. Zero for none.
	NextDue time.Time
}

// Reaped tells what Reap did.
type Reaped struct {
	Nodes       []journal.NodeID // declared dead by this call
	Tasks       int              // made visible
	Quarantined int
}
