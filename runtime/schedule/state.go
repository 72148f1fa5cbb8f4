package schedule

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// state is the input of a generation of a schedule's run.
type state struct {
	ID        string      `json:"id"`
	Schedule  Schedule    `json:"schedule"`
	Cursor    time.Time   `json:"cursor,omitzero"`     // slots up to this one are decided; zero before the first turn
	Paused    string      `json:"paused,omitempty"`    // why; empty if it is not paused
	Failures  int         `json:"failures,omitempty"`  // runs in a row
	Behind    bool        `json:"behind,omitempty"`    // slots since Cursor came while a run was open
	Queue     []item      `json:"queue,omitempty"`     // wait for the end of what is open
	Open      []opened    `json:"open,omitempty"`      // runs that were open when the generation before ended
	Backfills []backfill  `json:"backfills,omitempty"` // in their order
	Counts    Counts      `json:"counts,omitzero"`
	Last      *StartedRun `json:"last,omitempty"`
	Refused   string      `json:"refused,omitempty"` // why a full limit has kept a run from starting, the last time
}

// item is a slot that is to start, or a trigger.
type item struct {
	Slot     time.Time `json:"slot"`
	Trigger  string    `json:"trigger,omitempty"` // its key
	Overlap  Overlap   `json:"overlap"`
	Backfill bool      `json:"backfill,omitempty"`
}

// opened is an open run of the schedule.
type opened struct {
	Run      journal.RunID `json:"run"`
	Backfill bool          `json:"backfill,omitempty"` // such runs have a line of their own
	Stopped  bool          `json:"stopped,omitempty"`  // it was asked to end
}

// backfill is a range of past slots that are to start.
type backfill struct {
	Cursor time.Time `json:"cursor"` // slots up to this one have been started
	To     time.Time `json:"to"`
	AtOnce bool      `json:"at_once,omitempty"`
}

// Counts are what has become of a schedule's slots. Slots that nobody looked at, because a node was
// away or a run was open for long, are counted up to 1,000 at a time.
type Counts struct {
	Started   int `json:"started"`             // runs, with those that were triggered and backfilled
	Existed   int `json:"existed,omitempty"`   // slots whose run was there already
	Skipped   int `json:"skipped,omitempty"`   // slots and triggers that the overlap policy left out, or a full limit refused
	Missed    int `json:"missed,omitempty"`    // slots that were older than the catch-up window, or beyond its limit
	Completed int `json:"completed,omitempty"` // runs
	Failed    int `json:"failed,omitempty"`    // likewise
}

// StartedRun is the newest run that a schedule has started.
type StartedRun struct {
	Run  journal.RunID `json:"run"`
	Slot time.Time     `json:"slot"`
	At   time.Time     `json:"at"`
}

// Info is what a schedule shows of itself.
type Info struct {
	ID       string          `json:"id"`
	Schedule Schedule        `json:"schedule"`         // without the input
	Digest   string          `json:"digest,omitempty"` // of the schedule with its input
	Paused   string          `json:"paused,omitempty"`
	Next     time.Time       `json:"next,omitzero"` // the next slot; zero if there is none, and while Waiting
	Note     string          `json:"note,omitempty"`
	Waiting  bool            `json:"waiting,omitempty"` // it looks at the time again when the open run has ended
	Open     []journal.RunID `json:"open,omitempty"`    // the first 10
	OpenRuns int             `json:"open_runs,omitempty"`
	Queued   int             `json:"queued,omitempty"`
	Backfill int             `json:"backfills,omitempty"` // how many are under way
	Counts   Counts          `json:"counts"`
	Failures int             `json:"failures,omitempty"` // runs in a row
	Refused  string          `json:"refused,omitempty"`  // by which full limit a slot was skipped, the last time
	Last     *StartedRun     `json:"last,omitempty"`
}
