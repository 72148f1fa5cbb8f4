package journal

import (
	"slices"
	"time"
)

// Reuse says what a start does when its key belongs to a closed run. A key that belongs
// to an open run always leads to that run.
type Reuse int16

// The reuse policies of a key (J8).
const (
	ReuseReject        Reuse = 0 // no new run: the caller gets the closed run
	ReuseAllow         Reuse = 1 // a new run takes the key over
	ReuseAllowIfFailed Reuse = 2 // as ReuseAllow if the closed run is not completed, else as ReuseReject
)

// Replaces tells whether a start with this policy takes the key of a run with that status over.
func (r Reuse) Replaces(holder Status) bool {
	return holder.Closed() && (r == ReuseAllow || r == ReuseAllowIfFailed && holder != Completed)
}

// Start asks for one new run. It is idempotent in two ways: a start with the same ID finds the run
// that the first try made (J4), whatever else it says; a start with the same Key finds the run that
// has the key, unless Reuse lets a new run take it over (J8).
type Start struct {
	ID       RunID // chosen by the caller; makes a repeated start recognisable (J4)
	Key      string
	Reuse    Reuse
	Workflow string
	Version  int32
	Queue    string
	Priority int16
	Labels   map[string]string
	Input    Payload
	Delay    time.Duration // until the run may first be claimed, by the store's clock; a later message wakes it at once
	Trace    string
	// Headers are for the code that the run executes; its children inherit them. Unlike Labels
	// nobody looks for them.
	Headers map[string]string
	// Timeout is how long the run may take, from its StartAt on and over all its generations; 0 for
	// as long as it takes. Its owner ends the code's root scope then.
	Timeout time.Duration
	// OnFailure is the workflow that is started if the run fails; empty for none.
	OnFailure string
	// Limits are what the run holds from its first turn until it closes, over all its generations
	// and whichever nodes it is on (J14). It waits for all of them from its StartAt on, and begins
	// when it has them; no message makes it begin earlier. It has no Owner from birth.
	Limits []LimitNeed
	// BeyondBacklog is for runs that somebody relies on whom a refusal does not reach: no limit
	// that is full refuses the run, or cancels it for itself or for another. It waits beyond
	// MaxBacklog, nobody goes for it, and it counts for those that come later.
	BeyondBacklog bool
	Owner         NodeID  // a node that serves the run itself owns it from birth, with [FenceAtBirth]; 0 for the queue
	Parent        *Parent // of a child
	// Message goes to the run that has the key then, new or not, in the same transaction; its Run
	// is not used. If the run is closed and not replaced, Started.Sent tells.
	Message *Message
}

// Started is the outcome of one Start.
type Started struct {
	Run     RunID // the id of the run that has the key now: the caller's or an earlier one
	Created bool  // whether this start (or an earlier try of the very same start) made the run
	Owned   bool  // whether Start.Owner owns it from birth
	StartAt time.Time
	Now     time.Time // the store's clock
	Err     error     // of this member alone: a [KeyConflictError], a [LimitFullError], ErrInvalid
	Sent    Sent      // what became of Start.Message
	// Cancelled are the runs that this start has closed because a limit was full (J14): by its
	// OnFull those that had come first and never begun, with children that close with them, or the
	// run itself.
	Cancelled []RunID
}

// SetDefaults fills the fields that a caller may leave zero: a fresh ID, Version 1, [DefaultQueue],
// [PriorityDefault]. It also makes Timeout what stores keep of it, whole microseconds and at least
// one, so that a node which executes its own start has what everybody else reads.
func (s *Start) SetDefaults() {
	if s.ID.IsZero() {
		s.ID = NewRunID()
	}
	if s.Version == 0 {
		s.Version = 1
	}
	if s.Queue == "" {
		s.Queue = DefaultQueue
	}
	if s.Priority == 0 {
		s.Priority = PriorityDefault
	}
	if len(s.Limits) > 0 { // it waits for them, so nobody owns it yet
		s.Limits, s.Owner = slices.Clone(s.Limits), 0
	}
	if s.Timeout > 0 && s.Timeout <= DelayMax { // any other is refused as it is
		s.Timeout = max(s.Timeout.Truncate(time.Microsecond), time.Microsecond)
	}
}
