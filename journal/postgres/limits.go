package postgres

import "time"

const (
	poolSizeDefault = 16 // committer lanes, claims, clients and a few step transactions
	poolSizeMin     = 4
	// stepTxsReserve: transactions of steps may never take the connections on which their node
	// renews, claims and commits.
	stepTxsReserve = 3

	conflictTriesMax = 5        // deadlocks and serialization failures are repeated inside
	startRoundsMax   = 20       // a start whose key's holder vanishes or closes meanwhile looks again
	batchBytesMax    = 32 << 20 // payloads of one statement; a protocol message ends at 1 GB
	reapBatch        = 1_000    // tasks freed by one statement: keeps its locks short
	joinRetriesMax   = 1_000    // blocked tasks that a joining node makes visible

	batchKeptBytesMax = 1 << 20 // memory of a batch that is kept for the next one

	callTimeout       = 30 * time.Second // a call without an answer is ErrUnavailable
	connectTimeout    = 10 * time.Second
	listenPing        = 5 * time.Second // silence after which the listener asks for a sign of life
	listenPingTimeout = 5 * time.Second
	reconnectMin      = 50 * time.Millisecond
	reconnectMax      = 5 * time.Second
	notifyInterval    = 10 * time.Millisecond // between two flushes: NOTIFY takes a lock of the whole database
	notifyTimeout     = 5 * time.Second
	notifyBytesMax    = 7_900 // the server refuses payloads of 8,000 bytes
	pendingHintsMax   = 1_000 // more distinct hints than this become one "look at everything"

	resolvePause     = 50 * time.Millisecond // between two looks at an unknown commit
	resolveTerminate = time.Second           // a commit that hangs this long on a lost connection is ended
	rollbackTimeout  = 5 * time.Second
)
