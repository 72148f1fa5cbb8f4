package journal

import (
	"time"
)

// Attempt is the durable state of a step that has failed at least once and is not done. It lives in
// the task, so failed attempts do not grow the history: a step that fails a thousand times costs
// one event in the end. An owner writes the whole list with each commit. A run with steps in retry
// may be parked, and whoever claims it next goes on with the count and the time that stand here.
type Attempt struct {
	Cmd       Cmd       `json:"cmd"`
	Name      string    `json:"name"`
	Made      int32     `json:"made"`              // attempts that have failed
	Panics    int32     `json:"panics,omitempty"`  // those of them that panicked
	NextAt    time.Time `json:"next"`              // store's clock
	Failure   *Failure  `json:"failure,omitempty"` // of the last attempt
	Heartbeat *Payload  `json:"heartbeat,omitempty"`
}
