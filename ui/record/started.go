package record

import (
	"encoding/json"

	"github.com/reprise-run/reprise/runtime"
)

// Started is the answer to a start.
type Started struct {
	Run     string `json:"run" doc:"id of the run"`
	Created bool   `json:"created" doc:"false if a run had the key already: this is that one"`
}

// Sent is the answer to what was sent to a run.
type Sent struct {
	Run  string `json:"run" doc:"id of the run"`
	Done string `json:"done" doc:"what was done: signalled, cancel requested, terminated, paused, resumed, labels set, priority set or deleted"`
}

// Answer is the answer to an update or a query.
type Answer struct {
	Run    string          `json:"run" doc:"id of the run"`
	Name   string          `json:"name" doc:"name of the update or query"`
	Answer json.RawMessage `json:"answer" doc:"what the handler returned"`
	// AsOf and Behind are set together.
	AsOf   int32  `json:"as_of,omitempty" doc:"of a query: the event as of which the answer is, because the code does not fit the next one"`
	Behind string `json:"behind,omitempty" doc:"why the code does not fit that event"`
}

// Earlier says that an answer is as of an earlier event, if it is.
func (a *Answer) Earlier(e *runtime.BehindError) {
	if e != nil {
		a.AsOf, a.Behind = int32(e.Seq), e.Err.Error()
	}
}

// Replayed says whether code fits a history.
type Replayed struct {
	Run  string `json:"run" doc:"id of the run"`
	Fits bool   `json:"fits" doc:"whether the code of this program does what the history says"`
}
