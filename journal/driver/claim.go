package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// ClaimRequest asks for due tasks of some routes.
//
// A claim makes its node the owner of what it returns, in the statement that chooses it: owner,
// fence and visibility change under the row's lock, and rows that another claim has locked are
// skipped. So two claims never return the same task, and the fence of every earlier owner is out of
// date from that moment (J3). The task that it returns has the link with which its last owner freed
// it, so a node that kept the run in memory knows without a load whether its memory is current.
//
// The one outcome that this leaves open is an answer that never arrives: the node then owns tasks
// that it does not know of, and it keeps renewing the lease that protects them. That is what
// Reconcile is for. A task that was claimed and never committed to is marked as unconfirmed, and a
// claim with Reconcile returns all marked ones again. The first commit takes the mark away, because
// an owner that commits has heard of its claim.
type ClaimRequest struct {
	Node   journal.NodeID
	Routes []journal.Route
	Max    int // 0 claims nothing and only reports Attention, Waiting and NextDue
	// Suspects is how many of the tasks may be suspects, see [SuspectStrikes]; 0 leaves them to
	// others. A claim that takes some may take fewer other tasks than there are.
	Suspects int
	// Reconcile also returns every task that Node owns but never committed to: an earlier
	// claim's answer may have been lost. The caller drops those it knows.
	Reconcile bool
	// Chance goes into the fences of what is claimed, see [journal.Fence.Next]. [Journal.Claim]
	// draws it for each call; 0 asks for that. It also decides over ByAge.
	Chance uint32
	// Bytes is how much the claim may return of values without a small limit; 0 and more than
	// [ClaimBytesMax] are that.
	Bytes int
}

// BytesMax is how much the claim may return of such values.
func (r *ClaimRequest) BytesMax() int {
	if r.Bytes <= 0 {
		return ClaimBytesMax
	}
	return min(r.Bytes, ClaimBytesMax)
}

// ageShare is one of how many places goes by age alone.
const ageShare = 8

// ByAge is how many of the Max tasks go to those that have been due for longest, whatever their
// priority: one of eight, over many claims. The others go to the most urgent, and among equals to
// the oldest.
//
// It is what keeps a low priority from starving. A task that is due waits for at most eight times
// as many places as there were older tasks when it fell due, even if more urgent ones come without
// end. An order by priority and waiting time together (so many seconds for a level) would do so
// too, but it turns into an order by age alone as soon as the queue is longer than that time, which
// is when priorities matter. A share leaves seven of eight places to the urgent ones, however long
// the queue is.
//
// Claims of a full node are for one or two tasks. So the eighths are rounded by chance, such that
// they add up.
func (r *ClaimRequest) ByAge() int { return (r.Max + int(r.Chance%ageShare)) / ageShare }

// WaitingMax bounds what a claim counts of the tasks that it leaves: who needs the number needs to
// know whether it is large, and counting a million takes long.
const WaitingMax = 1000

// Claimed is a task now owned by the node, with its run's identity. One whose Run is Unreadable is
// owned like any other: its owner blocks it.
type Claimed struct {
	Task journal.Task // Attempts are empty if Apart says so
	Run  journal.Run  // without Terminal and Task; Input, Published and Headers are empty if Apart says so
	// Apart is above 0 if the claim had no room for what has no small limit, and says how many
	// bytes that is. The owner loads it before it does anything else, see LoadRequest.Apart.
	Apart int
}

// ClaimBytesMax bounds what one claim returns of values without a small limit: inputs, what steps
// in retry have left, published values, headers. A node claims for all its runs by one call at a
// time, and on a slow network all of them wait for that.
const ClaimBytesMax = 512 << 10

// ApartBytes is what counts of a run for that.
func ApartBytes(run *journal.Run, attempts int) int {
	n := attempts + len(run.Input.Data)
	for i := range run.Published {
		n += len(run.Published[i].Name) + len(run.Published[i].Value.Data)
	}
	for k, v := range run.Headers {
		n += len(k) + len(v)
	}
	return n
}

// ClaimedOf divides a run that was read with its task.
func ClaimedOf(run journal.Run) Claimed {
	c := Claimed{Task: *run.Task, Run: run}
	c.Run.Task = nil
	return c
}

// Claim is the answer to a ClaimRequest. A task of a request with Reconcile may be one that the
// node has already begun to run; it recognises that by the fence, which no other claim has.
type Claim struct {
	Tasks     []Claimed
	Attention []journal.RunID // runs that the node owns and that have unconsumed messages
	Waiting   int             // with Max 0: tasks of the routes that are due, counted up to WaitingMax
	NextDue   time.Time       // the earliest future VisibleAt among the routes; zero for none
	Now       time.Time       // the store's clock
}
