package pool

import "time"

const (
	// mailboxThroughput is how many messages of one mailbox are handled before another mailbox gets
	// the worker. Large enough that a run's usual turn is never cut in two, small enough that a
	// flood of messages to one run delays the others by well under a millisecond.
	mailboxThroughput = 100
	// lookEvery is the time between two looks at running mailboxes while work waits. A turn takes
	// microseconds, so a mailbox that outlives a look is replaying a long history or hangs.
	lookEvery = time.Millisecond
)
