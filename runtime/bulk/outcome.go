package bulk

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// What is what came of one run of a job.
type What string

// What comes of runs.
const (
	Done      What = "done"
	NotNeeded What = "not_needed" // see Progress.NotNeeded
	Failed    What = "failed"
	// Unknown is that of some runs of a page whose failures were not all kept: an earlier version
	// kept 20 of a page.
	Unknown What = "unknown"
)

// Outcome is what came of one run of a job.
type Outcome struct {
	Run   journal.RunID
	What  What
	Error string    // of one that failed, its beginning
	At    time.Time // when the job had done with the page of the run
}

// OutcomeFilter selects outcomes. The zero value means the first page of all.
type OutcomeFilter struct {
	Failures bool   // only runs that failed
	Cursor   string // the Next of the page before
	Limit    int    // at most journal.ListMax; 0 means journal.ListDefault
}

// OutcomePage is some outcomes, in the order in which the job came to the runs.
type OutcomePage struct {
	Outcomes []Outcome
	Next     string // the cursor behind it, empty on the last
}
