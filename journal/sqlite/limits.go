package sqlite

import "time"

const (
	readersDefault = 4 // loads and lists beside the writer; more only compete for the same processors
	readersMax     = 64

	batchJobsMax = 1_000 // calls in one transaction: past it, a larger one only adds latency
	batchBytes   = 32 << 20

	reapBatch      = 1_000 // tasks freed in one transaction: others get their turn between two
	joinRetriesMax = 1_000 // blocked tasks that a joining node makes visible of each route
	listChunk      = 500   // candidates that a listing looks at between two looks at its context

	// lockPatience is how long the lock of a file may be taken before that is an error. A process
	// that was killed while it started another one leaves it to that one for a moment.
	lockPatience = 250 * time.Millisecond
	lockPause    = 5 * time.Millisecond

	txMaxDefault = 30 * time.Second // longer than any step in a transaction should take

	// busyMillis is how long a statement waits for another program that works on the file. Within
	// the process nobody waits for a lock of the file.
	busyMillis = 5_000

	// Caches in KiB. A transaction that outgrows the writer's is written to the log piecemeal.
	writerCacheKiB = 32 << 10
	readerCacheKiB = 4 << 10

	// checkpointPages is how many pages the log holds before they are copied to the database: few
	// copies of pages that change often, and yet a log that is quickly read after a crash.
	checkpointPages = 4_000
	// logBytesMax is what is left of a log that has grown longer.
	logBytesMax = 64 << 20
)
