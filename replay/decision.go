package replay

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Decision is what the code asked for since the last Take. The driver makes it durable, then lets
// the outside see it: never the other way round, because a turn whose commit is refused did not
// happen.
type Decision struct {
	Steps       []Step        // to be executed; valid until the next Take
	CancelSteps []journal.Cmd // whose context is to be cancelled; each still ends with an outcome event, if not in DropSteps
	DropSteps   []journal.Cmd // nobody waits for their outcome any more: it becomes no event
	// What the turn does to others, see driver.Commit.
	Starts   []journal.Start
	Messages []journal.Message
	Replies  []journal.Reply
	SetAside []SetAside // signals that do not decode; the history has it, this is for the log
	// Published is all that the run has published; nil if that has not changed.
	Published []journal.Published
	// Labels are those that the code has set or, without a value, removed; nil for none.
	Labels map[string]*string
	// OnlySteps tells that the code asked for nothing but steps: see "turn" in the package story.
	OnlySteps bool
	Terminal  *journal.Event    // closes the run, or its generation; Seq and Time are the caller's to set. Nil while it is open.
	Children  bool              // with a Terminal: the run may have open children
	Continue  *journal.Continue // with a Terminal that is RunContinued: the next generation
}

// Step is a step without an outcome, for whoever executes it.
type Step struct {
	Cmd       journal.Cmd
	Name      string
	IssuedAt  time.Time    // workflow time at which the code asked for it: overall timeouts count from here
	Cancelled bool         // its scope was cancelled
	Options   *StepOptions // not to be changed
	// Body runs the user's function and encodes its output. It is called on any goroutine, never by
	// the machine. tx is the value of the step's transaction if Options.Tx, else nil.
	Body func(ctx context.Context, tx any) (journal.Payload, error)
}

// StepOptions says how a step is executed. The values are complete: the authoring API fills
// defaults.
type StepOptions struct {
	Retry     RetryPolicy
	Attempt   time.Duration // time limit of one attempt; 0 for none
	Overall   time.Duration // time limit from IssuedAt over all attempts and waits; 0 for none
	Heartbeat time.Duration // heartbeat deadline: an attempt without one for so long has failed; 0 for none
	Tx        bool          // the body runs in a transaction that commits together with the outcome
	OnCancel  CancelMode
	Limits    []journal.LimitNeed // what an attempt needs of limits before it begins
	Exhausted ExhaustMode
}

// ExhaustMode says what becomes of a step that its options do not allow to be tried again.
type ExhaustMode uint8

// The exhaust modes.
const (
	FailStep ExhaustMode = iota // it fails
	PauseRun                    // its run is paused, and it is tried anew when somebody has resumed the run
)

// SetAside is a signal that code was about to receive and that does not decode.
type SetAside struct {
	Signal string
	Number journal.InboxSeq
	Err    error
}

// CancelMode says what the cancellation of a step or a child means for the code that waits for
// it.
type CancelMode uint8

// The cancel modes.
const (
	WaitOutcome CancelMode = iota // it is asked to stop, and its outcome is waited for
	TryCancel                     // it is asked to stop, and counts as cancelled at once
	Abandon                       // it is not asked, and counts as cancelled at once
)

// RetryPolicy says when a failed attempt is repeated: after the n-th failure in
// Initial·Factor^(n-1), at most Max, spread by ±Jitter of itself.
type RetryPolicy struct {
	Initial  time.Duration
	Factor   float64
	Max      time.Duration
	Jitter   float64 // 0 to 1
	Attempts int32   // in all, with the first; 0 for no limit
	Panics   int32   // attempts that may panic, in all; 0 for no limit
}
