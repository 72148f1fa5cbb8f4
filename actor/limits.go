package actor

import (
	"time"

	"github.com/reprise-run/reprise/replay"
)

const (
	// shardCount spreads routing and spawning over cores; each shard costs one idle actor. WarmMax
	// and spareMax are divided by it, so it should not be large.
	shardCount = 16
	// turnEventsMax bounds one commit of one run, so that a flood of messages to it cannot delay
	// the other commits of its batch for long.
	turnEventsMax = 1000
	// turnBytesMax is how many bytes of payloads a turn may have before it takes no further event,
	// and how many wait in memory before more messages are read. On a network of a megabyte a
	// second such a commit takes some seconds, and no store refuses it.
	turnBytesMax = 8 << 20
	// turnEffectsMax is how many children, messages and replies a turn may ask for before it takes
	// no further event. What one event asks for is not divided, so the rest of
	// journal.CommitEffectsMax, nearly all of it, is room for the last event.
	turnEffectsMax = 1000
	// spareMax is how many actors without a run are kept: about a kilobyte each.
	spareMax = 2048

	// stepsMaxDefault is how many step bodies run at once in a node. Bodies mostly wait for others.
	stepsMaxDefault = 1000
	// warmMaxDefault is how many parked runs stay in memory: a few kilobytes each.
	warmMaxDefault = 10_000
	// warmIdleDefault is how long a parked run stays in memory. Most runs that are woken at all are
	// woken soon; what is loaded again costs one batched query.
	warmIdleDefault = time.Minute
	// historyMaxDefault bounds what a takeover has to replay: about 50 ms, and some tens of
	// megabytes.
	historyMaxDefault = 50_000
	// stuckAfterDefault is how long workflow code may compute without awaiting before it is
	// reported. A turn takes microseconds, so this is no false alarm even on a busy machine.
	stuckAfterDefault = 2 * time.Second

	// txWaitsAfter is how long a step may wait for its transaction to begin before that is
	// reported. Transactions of steps end within moments, unless they wait for something.
	txWaitsAfter = 5 * time.Second

	// heartbeatPassEvery is how often the heartbeats of one attempt are passed to its run, and how
	// late the newest is at most.
	heartbeatPassEvery = 100 * time.Millisecond
	// heartbeatSaveEvery is how often the details of a run's heartbeats are made durable, and how
	// late the newest are at most: each time costs a commit, and what a crash loses is the work of
	// this time.
	heartbeatSaveEvery = 5 * time.Second

	// quantum is how long a run keeps its place while others wait for one, and how long its
	// attempts wait for a slot before it looks for another node: long against what it costs to
	// claim a run and to load it again, short for people who wait.
	quantum = time.Second
	// limitQuantum is how long the attempts of a run wait for limits before it gives its place to
	// others who wait for one, and limitRest how long it stays away then: such a run costs a claim
	// and a commit each time.
	limitQuantum = 10 * time.Second
	limitRest    = 30 * time.Second
	// restMax is how long a run that is to give its place back starts no step, in the hope that
	// those that are executed end.
	restMax = time.Second
	// lookMin is the least time between two looks of a run at whether it waits in vain.
	lookMin = quantum / 4
	// leadTime is more than a claim takes, with the load of what it brings.
	leadTime = 100 * time.Millisecond
	// newcomerTime is more than a run takes from its activation to its first turn's end, unless its
	// code hangs or its history is long.
	newcomerTime = time.Second

	// abandonedAfter is how long a body may go on after its attempt is over before its slot is
	// given to others: long against what a body takes that does look at its context.
	abandonedAfter = 2 * time.Second
	// abandonedEvery is the least time between two reports of abandoned bodies of one step.
	abandonedEvery = time.Minute
	// abandonedDump is the least time between two such reports, of whatever steps, that have a
	// stack: to take it stops the world, and a server that is down may hang a thousand steps.
	abandonedDump = time.Second
	// abandonedShare is one of how many slots' worth of abandoned bodies a step may have when it
	// begins an attempt.
	abandonedShare = 4

	// retryFree is how many retries of a step are spaced only if there are very many of them, see
	// retryPace; later ones always are.
	retryFree = 3
	// retryTick is the time between two moments at which spaced retries are due, retryEvery the
	// least time between two of those that always are spaced, on the average, and retryEarlyEvery
	// between two first ones, two second ones, and so on.
	retryTick       = 50 * time.Millisecond
	retryEvery      = 2 * time.Millisecond
	retryEarlyEvery = 2 * time.Millisecond
	// creditMax is how many retries come at once although no step has succeeded: a tenth of a
	// second of what a node can do.
	creditMax = 1000
	// retryFloor is the least delay of a spaced retry: ten attempts a second of one step that keeps
	// failing are as good as hundreds to whoever waits for it, and a tenth of the commits and
	// lines.
	retryFloor = 100 * time.Millisecond
	// retrySlow is the delay from which on a policy spaces its retries well enough.
	retrySlow = time.Second

	// blockedFirst and blockedMax bound the back-off of a run that cannot continue.
	blockedFirst = time.Second
	blockedMax   = 5 * time.Minute
	// problemBytesMax bounds the stored text of why a run is blocked: a panic may say anything, and
	// the stack of a failure of the engine follows.
	problemBytesMax = 16 << 10
	// panicTextBytesMax bounds what is kept of a step's panic value, well below what a failure
	// keeps.
	panicTextBytesMax = 4 << 10
	// panicStackBytesMax bounds the stack that is reported with a panic of workflow code: it goes
	// into a log line.
	panicStackBytesMax = 64 << 10
	// killGrace is how long a killed system waits for step bodies that do not look at their
	// context.
	killGrace = time.Second
)

// beginRetry spaces the tries to begin the transaction of a step while the store is unavailable.
var beginRetry = replay.RetryPolicy{Initial: 20 * time.Millisecond, Factor: 2, Max: time.Second, Jitter: 0.2}
