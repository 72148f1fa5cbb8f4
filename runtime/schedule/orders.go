package schedule

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// orders is the signal by which a schedule is told something. All that it is told is one signal, so
// that it hears it in order.
const orders workflow.Signal[order] = "reprise.schedule.order"

// verb is what a schedule is told.
type verb string

const (
	define   verb = "define" // by its set
	remove   verb = "remove" // likewise
	pause    verb = "pause"
	resume   verb = "resume"
	trigger  verb = "trigger"
	fillBack verb = "backfill"
)

// order tells a schedule to do something.
type order struct {
	Verb     verb      `json:"verb"`
	Actor    string    `json:"actor,omitempty"`    // who says so, for those who read the history; empty for the set
	Schedule *Schedule `json:"schedule,omitempty"` // of define
	Reason   string    `json:"reason,omitempty"`   // of pause
	Key      string    `json:"key,omitempty"`      // of trigger
	Overlap  Overlap   `json:"overlap,omitempty"`  // of trigger and backfill
	From     time.Time `json:"from,omitzero"`      // of backfill
	To       time.Time `json:"to,omitzero"`        // likewise
}
