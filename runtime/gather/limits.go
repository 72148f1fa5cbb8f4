package gather

import "time"

const (
	nameBytesMax = 100 // of a collector: it is in a label and in keys
	keyBytesMax  = 200 // likewise; the key of a batch has both, an id and a number

	sizeDefault = 100
	sizeMax     = 10_000
	// bytesMax bounds the inputs of a batch. They are one payload, and while they wait the state
	// with which the collector continues as new: both are half as large as payloads may be by
	// default (journal.PayloadBytesMax), which leaves room for codecs.
	bytesMax = 1 << 20

	// quietsPerWait is how many quiet times a batch is put off by inputs, if its rules do not say.
	quietsPerWait = 10

	// lookFirst and lookMax are how long a collector waits before it asks again for the end of a
	// run that an earlier generation has started: each wait is twice the one before.
	lookFirst = time.Second
	lookMax   = 30 * time.Second

	// findFirst and findMax are how long a ticket waits before it looks for its run again, where
	// the collector's answer came before that was started.
	findFirst = 50 * time.Millisecond
	findMax   = 5 * time.Second

	patienceMax = 10 * time.Second // the longest wait before a step is tried again while the store is away

	knownMax = 10_000 // runs that a collector's sender remembers
)
