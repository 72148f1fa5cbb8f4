package runtime

import "time"

const (
	// leaseDefault: a node that cannot reach the store for so long is dead to the others, so it
	// bounds the delay after a network partition. A process that merely died is found in about a
	// second, by its sessions.
	leaseDefault = 10 * time.Second
	// leaseMin is a few round trips to a slow store: nine renewals must fit into a lease.
	leaseMin = 500 * time.Millisecond
	// leaseMax bounds how long runs of a dead node may wait.
	leaseMax = time.Hour
	// graceDefault: a run goes on elsewhere about a second after its node died, and a server or a
	// network that stands still for half a second interrupts nobody.
	graceDefault = 800 * time.Millisecond
	// graceMin is a few round trips to a near store: four questions must be answered in it.
	graceMin = 100 * time.Millisecond
	// pollDefault bounds how late a task or a result is found whose hint was lost. It is longer
	// than the time between two looks at the queue that renewals of the default lease bring, so an
	// idle node hardly polls.
	pollDefault = 1500 * time.Millisecond
	// liveMaxDefault is how many runs a node owns at once.
	liveMaxDefault = 2000
	// lanesDefault: two batches in flight keep the store busy while answers are handed out.
	lanesDefault = 2
	// drainDefault is how long running steps may continue after shutdown begins: most orchestrators
	// kill a process 30 s after they asked it to end.
	drainDefault = 10 * time.Second
	// servedFor is how long a node that was in the list of live nodes is taken for one.
	servedFor = 5 * time.Second
	// joinPatience is how long the node of a client has for joining before a start that waits for
	// it is warned of.
	joinPatience = 5 * time.Second
	// warnEvery limits the warning that nobody serves a workflow, for each route.
	warnEvery = time.Minute
	// childPagesMax bounds how many pages of children Describe reads, newest first, for those that
	// are pending.
	childPagesMax = 20
	// whyLinesMax bounds how many lines of limits Why looks at, with two questions each.
	whyLinesMax = 10
	// whyClaimsMax bounds how many claims of such a line it reads: those that stand behind them in
	// line are taken to cost as much.
	whyClaimsMax = 200
	// whyHoldersMax is how many holders it names: whoever asks wants to know one that hangs.
	whyHoldersMax = 5
	// whyMessagesMax is how many messages of an inbox one reason names.
	whyMessagesMax = 3
	// whyAncestorsMax is how many generations of parents it looks for among them.
	whyAncestorsMax = 8
)
