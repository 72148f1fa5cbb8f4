package journal

import (
	"time"
)

// Attempt is the durable state of a step that has failed at least once and is not done.
// It lives in the task, so failed attempts do not grow the history.
type Attempt struct {
	Cmd       Cmd       `json:"cmd"`
	Name      string    `json:"name"`
	Made      int32     `json:"made"`              // attempts that have failed
	NextAt    time.Time `json:"next"`              // store's clock
	Failure   *Failure  `json:"failure,omitempty"` // of the last attempt
	Heartbeat *Payload  `json:"heartbeat,omitempty"`
}
