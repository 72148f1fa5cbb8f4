package journal

import (
	"time"
)

// Run is the identity and state of one run.
type Run struct {
	ID       RunID
	Key      string // empty if the caller gave none
	Workflow string
	Version  int32
	Queue    string
	Priority int16
	Status   Status
	Labels   map[string]string // as they are now
	Input    Payload
	Trace    string // W3C traceparent of the start, empty for none
	Headers  map[string]string
	// StartLabels are the labels of the start, which the code goes on to see, if the run has set or
	// removed labels since; nil as long as Labels are these.
	StartLabels map[string]string
	Timeout     time.Duration // from StartAt on; 0 for none
	Limits      []LimitNeed   // that it holds until it closes, or waits for; nil for none
	OnFailure   string        // the workflow that is started if the run fails, empty for none
	Generation  Generation
	CreatedAt   time.Time
	StartAt     time.Time   // CreatedAt plus the start delay: the workflow time of RunStarted
	ClosedAt    time.Time   // zero while open
	Parent      *Parent     // nil if nobody waits for it
	Continued   *Continue   // what the current generation began with, if it is not the first; without Input and Version
	Rewound     *Rewound    // how the current generation began, if an operator has made it of an earlier one
	Published   []Published // what it has published, by name; not to be changed
	Terminal    *Event      // the terminal event of a closed run
	Task        *Task       // the queue row of an open run
	Freezes     Freezes     // in which its timers stood still, see Freeze
	// Unreadable is an *UnreadableError about what of the rows of the run, of its task or of its
	// terminal event cannot be read; the field in question is empty. It is nil for nearly every
	// run.
	Unreadable error
}
