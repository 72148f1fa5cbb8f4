package bulk

import "time"

const (
	// pageMax is the runs of a page. Their ids are one event of 20 kB, and their listing holds the
	// runs in memory with their inputs.
	pageMax = 500
	// pageTime is how long a page of a slow job takes, at most: progress is told, and a pause
	// heeded, after each.
	pageTime = 10 * time.Second
	// callTime is how long the call for one run may take. A pause waits for the node that owns the
	// run.
	callTime = 10 * time.Second
	// retryMax is the longest wait before a page is tried again while the store is away.
	retryMax = 10 * time.Second
	// catchUp is by how much a job that is late may exceed its rate: timers are late by a
	// millisecond, which at a thousand runs a second would halve it.
	catchUp = 20 * time.Millisecond

	concurrencyDefault = 32
	concurrencyMax     = 256
	rateMax            = 1_000_000

	// failuresMax failures of failureBytesMax bytes, with their ids and escapes, fit into
	// journal.PublishedBytesMax. All of a page are in its tally, of failureJSONMax bytes each.
	failuresMax     = 20
	failureBytesMax = 200
	failureJSONMax  = 6*failureBytesMax + 100
)
