package runtime

import "time"

const (
	// leaseDefault: a node that cannot reach the store for so long is dead to the others. A process that merely died is found in about
	// a second by its advisory lock.
	leaseDefault = 10 * time.Second
	leaseMin     = 500 * time.Millisecond
	leaseMax     = time.Hour
	// renewals a lease: with nine, eight may fail in a row. An idle node sends less than one statement a second.
	renewalsPerLease = 9
	// secondLook is the time between suspecting a node and asking again: a live one takes its lock back at once after
	// a lost connection.
	secondLook = 400 * time.Millisecond
	// leasesPerSweep: renewals report the nodes to reap. The sweep beside them is for tasks of nodes that nobody
	// remembers, which take a start and a death within one moment.
	leasesPerSweep = 6
	// pollDefault bounds how late a task or a result is found whose hint was lost. It is longer than the time between two
	// renewals of the default lease, which look at the queue on the way.
	pollDefault = 1500 * time.Millisecond
	// doubtFor is how long after a lost answer the node looks for runs that it owns without knowing: longer than a store goes on
	// with a call that was given up. doubtEvery is the time between two looks.
	doubtFor   = 45 * time.Second
	doubtEvery = 5 * time.Second
	// claimMax bounds one claim, so that its rows are locked briefly and others get their share.
	claimMax = 500
	// liveMaxDefault is how many runs a node owns at once.
	liveMaxDefault = 2000
	// lanesDefault: two batches in flight keep the store busy while answers are handed out.
	lanesDefault = 2
	// drainDefault is how long steps may go on after the end was asked for; drainGrace how long they may take to heed their
	// context after that.
	drainDefault = 10 * time.Second
	drainGrace   = 2 * time.Second
	// servedFor is how long the list of live nodes is trusted before a warning is given.
	servedFor = 5 * time.Second
	// warnEvery limits the warning that nobody serves a workflow.
	warnEvery = time.Minute
	// viewsMax and viewIdle bound the machines that are kept for further queries: a few kilobytes each, or as much as a long history
	// leaves in memory.
	viewsMax = 64
	viewIdle = 10 * time.Second
	// childPagesMax bounds how many children Describe looks through, newest first, for those that are pending.
	childPagesMax = 20
	// historyPage is how many events History reads at once.
	historyPage = 5000
)
