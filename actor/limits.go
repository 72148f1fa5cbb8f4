package actor

import "time"

const (
	// shardCount: enough to spread spawning over cores; each shard costs one idle actor.
	shardCount = 16
	// turnEventsMax bounds one commit of one run, so that a flood of messages cannot starve its
	// neighbours in the batch.
	turnEventsMax = 1000
	// turnEffectsMax is how many children, messages and replies a turn may ask for before it takes
	// no further event. What one event asks for is not divided, so it leaves nearly all of
	// journal.CommitEffectsMax to the last one.
	turnEffectsMax = 1000
	// spareMax is how many actors without a run are kept: about a kilobyte each.
	spareMax = 2048
	// stepsMaxDefault is how many step bodies run at once in a node.
	stepsMaxDefault = 1000
	// warmMaxDefault is how many parked runs stay in memory: a few kilobytes each.
	warmMaxDefault = 10_000
	// warmIdleDefault is how long a parked run stays in memory.
	warmIdleDefault = time.Minute
	// historyMaxDefault bounds what a takeover has to replay: about 50 ms, and some tens of
	// megabytes.
	historyMaxDefault = 50_000
	// stuckAfterDefault is how long workflow code may go on without awaiting before it is reported.
	stuckAfterDefault = 2 * time.Second
	// panicStackBytesMax bounds the stack that is reported with a panic of workflow code.
	panicStackBytesMax = 64 << 10
	// heartbeatPassEvery is how often an actor hears of the heartbeats of one attempt.
	heartbeatPassEvery = 100 * time.Millisecond
	// heartbeatSaveEvery is how often the details of a step's heartbeats are made durable.
	heartbeatSaveEvery = 5 * time.Second
	// blockedFirst and blockedMax bound the back-off of a run whose code and history disagree.
	blockedFirst = time.Second
	blockedMax   = 5 * time.Minute
	// problemBytesMax bounds why a run is blocked: a panic may say anything, and its stack follows.
	problemBytesMax = 16 << 10
	// killGrace is how long a killed system waits for step bodies that do not look at their
	// context.
	killGrace = time.Second
)
