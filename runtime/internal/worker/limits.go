package worker

import "time"

const (
	// renewalsPerLease: with nine renewals a lease, eight may fail in a row.
	renewalsPerLease = 9
	// wordOfLease is the part of a lease that a store has to say why it did not renew the lease.
	wordOfLease = 100
	// idleRenewalsPerLease is for a node that owns no run. It hears of a pause of which the hint
	// was lost so much later.
	idleRenewalsPerLease = 4
	// looksPerLease: a node that renews less often looks at the queue between two renewals too. At
	// the default lease that is before a poll is due, so the node need not claim to find nothing.
	looksPerLease = 7
	// askPerGrace: with four questions in a grace, two may get no answer before steps are
	// interrupted.
	askPerGrace = 4
	// lookMax bounds a look at a store that is slow: the next one may find it better.
	lookMax = 5 * time.Second
	// leasesPerSweep is the number of leases between two sweeps. Looks report dead nodes; the
	// sweep is for tasks whose owner nobody remembers, which take a start and a death within one
	// moment.
	leasesPerSweep = 6
	// reconcileFor is how long after a lost answer claims look for runs that the node owns without
	// knowing: longer than a store goes on with a call that was given up.
	reconcileFor = 45 * time.Second
	// reconcileEvery is the time between two such claims.
	reconcileEvery = 5 * time.Second
	// leasesPerComparison is the number of leases between two comparisons of what the node owns
	// with what the store says, when nothing asks for one.
	leasesPerComparison = 2
	// compareMin is the least time between two comparisons, whatever asks for them.
	compareMin = time.Second
	// strayAfter is how long the answer to a claim or a start may be on its way before a task that
	// nobody here runs counts as unknown.
	strayAfter = time.Second
	// claimMax bounds one claim, so that its rows are locked briefly and other nodes get their
	// share.
	claimMax = 500
	// probeEvery is the time between two claims of a full node that take nothing and count who
	// waits.
	probeEvery = 250 * time.Millisecond
	// crowdAfter is how long due runs wait for a full node before that is logged, crowdEvery the
	// time between two such lines.
	crowdAfter = 2 * time.Second
	crowdEvery = time.Minute
	// limitPoll is the time between two comparisons of what the node has of limits with what the
	// store says, while it has something: it makes up for lost hints.
	limitPoll = 5 * time.Second
	// limitRunsPoll is the time between two looks at what is new of runs that hold limits or wait
	// for them, until limitRunsBusy after the last hint of them, and limitRunsRest what it is
	// behind that. It makes up for lost hints.
	limitRunsPoll = 10 * time.Second
	limitRunsBusy = 10 * time.Minute
	limitRunsRest = 2 * time.Minute
	// limitRetryMin and limitRetryMax are the time between two tries of a round.
	limitRetryMin = 20 * time.Millisecond
	limitRetryMax = time.Second
	// limitPaceMax is the longest rest between two rounds.
	limitPaceMax = 4 * time.Millisecond
	// limitDueMin is the least time between two looks at lines that wait for their rate: what has
	// become due meanwhile begins together.
	limitDueMin = 2 * time.Millisecond
	// acquittalMax is how long the commit may take that acquits a suspect after its trial. No other
	// suspect is claimed before: a death of a node with two is counted against neither.
	acquittalMax = 5 * time.Second
	// drainGrace is how long each part of the end may take: calls in flight to be answered,
	// cancelled steps to return, the store to free the node.
	drainGrace = 2 * time.Second
)

// Loads.
const (
	// leanBytes is what the lean loads of a batch share, and each gets between leanShareMin and
	// leanShareMax: nearly all histories and inboxes are smaller, and nobody waits long for the
	// others.
	leanBytes    = 16 << 20
	leanShareMin = 32 << 10
	leanShareMax = 256 << 10
	// pagesMax is how many pages of long histories are read by one call.
	pagesMax = 4
)
