package sqlite

import "time"

// Connections and their memory.
const (
	// readersDefault is the connections for loads and lists beside the writer. More only compete
	// for the same processors, and each has a cache.
	readersDefault = 4
	readersMax     = 64
	// Caches in KiB. A transaction that outgrows the writer's is written to the log piecemeal,
	// which is correct and slower.
	writerCacheKiB = 32 << 10
	readerCacheKiB = 4 << 10
)

// Sizes of transactions and answers.
const (
	// batchJobsMax is the calls in one transaction: past it, a larger one saves no more syncs worth
	// mentioning, and only adds latency.
	batchJobsMax = 1_000
	// batchBytes is the payloads after which no further call joins a transaction: they are in
	// memory and in the log until it ends.
	batchBytes = 32 << 20
	// reapBatch is the tasks that are freed in one transaction: others get their turn between two.
	reapBatch = 1_000
	// joinRetriesMax is the blocked tasks of each route that a joining node makes visible. The rest
	// is tried when its own time comes.
	joinRetriesMax = 1_000
	// listChunk is the candidates that a listing looks at between two looks at its context.
	listChunk = 500
	// askedMin is the runs of which more is asked at once, at least: a statement for each costs
	// more than what it reads.
	askedMin = 64
	// gatherSure is the candidates up to which a listing with a condition reads all of them to sort
	// what matches. They are read in ten milliseconds.
	gatherSure = 2_000
	// gatherMax is the same after it has walked over some in the order that is asked for. More are
	// only walked over: to read them would take a second, and memory for each.
	gatherMax = 200_000
	// walkShare is what part of the candidates that would be gathered are walked over first.
	walkShare = 8
	// labelledMax is how many runs a name of labels may have to be gathered by it.
	labelledMax = 10_000
	// namesMax is how many names of failures are looked for in their texts, before any is decoded.
	// listFailedAsSQL has as many parameters.
	namesMax = 3
)

// Times.
const (
	// lockPatience is how long the lock of a file may be taken before that is an error. A process
	// that was killed while it started another one leaves it to that one for a moment.
	lockPatience = 250 * time.Millisecond
	lockPause    = 5 * time.Millisecond
	// txMaxDefault is longer than any step in a transaction should take: everybody who writes waits
	// for it.
	txMaxDefault = 30 * time.Second
	// busyMillis is how long a statement waits for another program that works on the file. Within
	// the process nobody waits for a lock of the file.
	busyMillis = 5_000
)

// The log.
const (
	// checkpointPages is how many pages the log holds before they are copied to the database: few
	// copies of pages that change often, and yet a log that is quickly read after a crash.
	checkpointPages = 4_000
	// logBytesMax is what is left of a log that has grown longer.
	logBytesMax = 64 << 20
)
