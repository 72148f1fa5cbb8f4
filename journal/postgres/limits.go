package postgres

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Connections.
const (
	// poolSizeDefault serves a busy node: a few batches of commits at once, claims, loads, clients
	// and some step transactions. More connections only wait for the same processors of the server.
	poolSizeDefault = 16
	// poolSizeMin is engineReserve and one connection each for a step and for a client.
	poolSizeMin = 4
	// clientPart and stepTxPart are the parts of the pool that clients and transactions of steps
	// have by default. The rest is the engine's.
	clientPart = 4
	stepTxPart = 2
	// engineReserve is how many connections nobody but the engine may take. One commit may wait for
	// a row that a user's transaction has locked; the others go on with the second. Renewals have a
	// connection of their own. Without a reserve a node whose steps had taken all connections could
	// not commit the steps' own results.
	engineReserve = 2
)

// Sizes of statements and answers.
const (
	// batchBytesMax is the payloads of one statement. A protocol message ends at 1 GB, and a server
	// holds a message several times over while it executes it. On a network of a megabyte a second
	// it arrives before the server gives an open transaction up, see holdSQL.
	batchBytesMax = 8 << 20
	// statementRowsMax is how many children or messages one statement writes, as many as a batch of
	// callers may have, and statementRowsMin how many it writes at least on a server that ends
	// statements soon. piecesForget is how long fewer are written after one was ended.
	statementRowsMax = journal.BatchMax
	statementRowsMin = 16
	piecesForget     = time.Minute
	// writePieceBytes is how much is written to a connection at once.
	writePieceBytes = 64 << 10
	// batchKeptBytesMax is the memory of a batch that is kept for the next one.
	batchKeptBytesMax = 1 << 20
	// reapBatch is the tasks that are freed by one statement. Their rows are locked until it ends,
	// and messages to them wait for so long.
	reapBatch = 1_000
	// joinRetriesMax is the blocked tasks that a joining node makes visible. More would be due at
	// once and be claimed by everybody; the rest is tried when its own time comes.
	joinRetriesMax = 1_000
)

// Tries.
const (
	// conflictTriesMax bounds the repetitions of a call that is the victim of a deadlock or of a
	// serialization failure. Each is the server's choice among two, so five in a row are no
	// accident.
	conflictTriesMax = 5
	// startRoundsMax bounds how often a start looks again because the holder of its key vanished or
	// closed meanwhile. That needs somebody who starts and deletes runs of that very key all the
	// time.
	startRoundsMax = 20
)

// Times of calls and connections.
const (
	// callTimeout is how long nothing may move on a call's connection before the call is
	// ErrUnavailable: the other end of a connection can vanish without a word. It is far above what
	// any statement takes, since the outcome of the call is unknown then.
	callTimeout = 30 * time.Second
	// connectTimeout is for connection strings that set none.
	connectTimeout = 10 * time.Second
	// keepAliveIdle is the silence after which the kernel asks for a sign of life, keepAliveEvery
	// the time between two questions, keepAliveCount how many stay without an answer, and
	// userTimeout how long what was sent may. Networks lose packets for a few seconds.
	keepAliveIdle  = 15 * time.Second
	keepAliveEvery = 5 * time.Second
	keepAliveCount = 3
	userTimeout    = 20 * time.Second
	// quietAfter is the silence after which a connection of the pool is asked for a sign of life
	// before it is used, and silentAfter how long it may take to answer. A server that is slower
	// costs new connections, and no more.
	quietAfter  = time.Second
	silentAfter = 2 * time.Second
	// poolingTrust is how long it is believed that a pooler gives sessions that last.
	poolingTrust = time.Minute
	// strayedEvery is the time between two warnings that ListenDSN leads elsewhere.
	strayedEvery = time.Minute
	// hangUpTimeout bounds a farewell to a server that may not answer.
	hangUpTimeout = time.Second
	// lifelineWait is how long a renewal waits for the lifeline before it goes through the pool,
	// and renewalTries the part of the lease that it waits for an answer there: the pool must have
	// its chance too. There it waits as long again, but no shorter than renewalTryMin: a server may
	// be slower than a lease is short.
	lifelineWait  = 200 * time.Millisecond
	renewalTries  = 4
	renewalTryMin = time.Second
	// lifelineTimeout is when a question without an answer is given up, together with the lifeline.
	lifelineTimeout = 3 * time.Second
	// The lifeline's time for one try to connect, and its pauses between tries. The node is in
	// doubt about its runs meanwhile.
	lifelineConnect  = 3 * time.Second
	lifelinePauseMin = 20 * time.Millisecond
	lifelinePauseMax = 500 * time.Millisecond
	// adminPauseMin and adminPauseMax are the time between two tries of an administrative action
	// that needs a row which somebody has locked.
	adminPauseMin = 500 * time.Millisecond
	adminPauseMax = 4 * time.Second
	// heldLookMax bounds the look for rows that are locked, which itself waits for locks of tables.
	heldLookMax = time.Second
	// offerLate is longer than a server goes on with a request that was given up.
	offerLate = time.Minute
	// listenPing is the silence after which the listener asks for a sign of life, and
	// listenPingTimeout how long it waits for one. Together they are how long hints may be missing
	// unnoticed; polling finds what they would have said.
	listenPing        = 5 * time.Second
	listenPingTimeout = 5 * time.Second
	// The listener's pause between two tries.
	reconnectMin = 50 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// Searches of the queue.
const (
	// markMargin is more than transactions of the store take from their beginning to their end.
	// What it covers is read by every search.
	markMargin = time.Second
	// fullEvery is about the time between two polls, and with a fullShare of 50 the time between
	// two full searches is at least 50 times what one takes.
	fullEvery = time.Second
	fullShare = 50
	// claimPatience leaves full searches to looks, which are as frequent, unless there are none.
	claimPatience = 2
)

// Lots. watchesPerAsk is about how many nodes look after all others in the time between two
// questions of a node, a quarter of a grace: with two, a death is noticed after an eighth of a
// grace on the average. looksPerRound is about how many look for dead ones, of all that look at the
// queue once: questions tell of dead processes sooner, this is for leases that run out. With three,
// hardly one round in twenty passes without a look.
const (
	watchesPerAsk = 2
	looksPerRound = 3
)

// Hints.
const (
	// notifyInterval is the time between two flushes: NOTIFY takes one lock of the whole server.
	// notifyUrgent is the time between two of them if a place of a limit stands empty meanwhile.
	notifyInterval = 10 * time.Millisecond
	notifyUrgent   = 2 * time.Millisecond
	notifyTimeout  = 5 * time.Second
	// notifyRetry is the pause after a flush that the store did not answer.
	notifyRetry = time.Second
	// notifyBytesMax is below the 8,000 bytes at which the server refuses a payload.
	notifyBytesMax = 7_900
	// endingPause is the time between two questions for transactions of callers: with the claim
	// that follows, their runs begin within 50 ms of the commit. Transactions are short; one that
	// is not ended after endingSoon is asked for at endingPauseMax, and forgotten after
	// endingPatience.
	endingPause    = 20 * time.Millisecond
	endingSoon     = 10 * time.Second
	endingPauseMax = 250 * time.Millisecond
	endingPatience = 5 * time.Minute
	// endingsMax is how many transactions of callers are asked for at once, 8 kB a question, and
	// how many calls in one are announced.
	endingsMax = 1_000
	// pendingHintsMax is how many distinct hints wait for a flush. More become "look at
	// everything".
	pendingHintsMax = 1_000
)

// Large answers, see traffic.
const (
	// largeAnswer is the size from which on a call gives way to others. On a network of a megabyte
	// a second it takes a quarter of a second.
	largeAnswer = 256 << 10
	// A slice is as large as comes in about sliceTime, within these bounds.
	sliceMin, sliceMax = 16 << 10, 64 << 10
	sliceTime          = time.Millisecond
	// giveWayMax is the longest time for which a reader gives way at once, and what is less than
	// giveWayMin is not worth a sleep.
	giveWayMin = 200 * time.Microsecond
	giveWayMax = 20 * time.Millisecond
	// smallCallTime is more than a small call takes unless it waits for more than the network, and
	// smallCallPause more than the next call of the same run takes to come.
	smallCallTime  = 50 * time.Millisecond
	smallCallPause = time.Millisecond
	// measuredAnswer is the size of an answer that has shown how fast its network is, and
	// fastNetwork the bytes a second from which on nobody is kept waiting. On a slower one a large
	// answer has queueTime of the network's time on its way, and windowMin at least.
	measuredAnswer = 1 << 20
	fastNetwork    = 32e6
	queueTime      = 4 * time.Millisecond
	windowMin      = 16 << 10
)

// Ends of transactions.
const (
	// beginTimeout bounds the beginning of a step's transaction, which is repeated, and its first
	// request after the step; both wait for nobody. stepTimeout bounds the writing of its event,
	// and its COMMIT. The writing may wait for a row that somebody has locked, as any commit may,
	// and a COMMIT for a synchronous standby.
	beginTimeout = 10 * time.Second
	stepTimeout  = callTimeout
	// resolvePause is the time between two looks at a commit whose outcome is unknown.
	resolvePause = 50 * time.Millisecond
	// resolveTerminate is how long such a commit may hang on a connection that is lost before its
	// session is ended. A server that is merely slow commits within it.
	resolveTerminate = time.Second
	// endTimeout bounds one try to end a session that has fallen silent. The try goes over another
	// connection, which may be silent too. endPause is the time between two tries.
	endTimeout = 5 * time.Second
	endPause   = 500 * time.Millisecond
	// rollbackTimeout bounds a rollback after the caller's context has ended. A connection that
	// does not answer within it is closed, which rolls back too.
	rollbackTimeout = 5 * time.Second
)
