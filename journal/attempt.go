package journal

import (
	"time"
)

// Attempt is the durable state of a step that has failed at least once and is not done, or that has
// a result which an operator gives it. It lives in
// the task, so failed attempts do not grow the history: a step that fails a thousand times costs
// one event in the end. An owner writes the whole list with each commit. A run with steps in retry
// may be parked, and whoever claims it next goes on with the count and the time that stand here. A
// step that pauses its run when it may not be tried again has a new set of attempts after each
// resume.
type Attempt struct {
	Cmd       Cmd       `json:"cmd"`
	Name      string    `json:"name"`
	Made      int32     `json:"made"`              // attempts that have failed
	Earlier   int32     `json:"earlier,omitempty"` // those of them before the step got its present set of attempts
	Panics    int32     `json:"panics,omitempty"`  // of the present set, those that panicked
	NextAt    time.Time `json:"next"`              // store's clock
	Failure   *Failure  `json:"failure,omitempty"` // of the last attempt
	Heartbeat *Payload  `json:"heartbeat,omitempty"`
	// Exhausted says that the step may not be tried again, and that the commit which wrote this has
	// paused the run instead of ending the step. A step that is exhausted in a run that is not on
	// hold was resumed, and gets a new set of attempts: whoever owns the run then gives it.
	Exhausted bool      `json:"exhausted,omitempty"`
	Since     time.Time `json:"since,omitzero"` // when it got its present set; zero for the first
	// Given is the output that the step has without being executed: its owner makes the event of
	// it.
	Given *Payload `json:"given,omitempty"`
}
