package runtime

import "time"

const (
	// leaseDefault: a node that cannot reach the store for so long is dead to the others. A process that merely died is found in about
	// a second by its advisory lock.
	leaseDefault = 10 * time.Second
	leaseMin     = 500 * time.Millisecond
	leaseMax     = time.Hour
	// pollDefault bounds how late a task or a result is found whose hint was lost. It is longer than the time between two
	// renewals of the default lease, which look at the queue on the way.
	pollDefault = 1500 * time.Millisecond
	// liveMaxDefault is how many runs a node owns at once.
	liveMaxDefault = 2000
	// lanesDefault: two batches in flight keep the store busy while answers are handed out.
	lanesDefault = 2
	// drainDefault is how long running steps may continue after shutdown begins.
	drainDefault = 10 * time.Second
	// servedFor is how long the list of live nodes is trusted before a warning is given.
	servedFor = 5 * time.Second
	// warnEvery limits the warning that nobody serves a workflow.
	warnEvery = time.Minute
	// childPagesMax bounds how many children Describe looks through, newest first, for those that are pending.
	childPagesMax = 20
	// historyPage is how many events History reads at once.
	historyPage = 5000
)
