package bulk

import "github.com/reprise-run/reprise/journal"

// The steps of a job, whose results tell what came of each run: see [Outcomes].
const (
	stepFind = "find" // a page
	stepAct  = "act"  // a tally of the first of its runs that were left
)

// page is some of the runs of a job.
type page struct {
	Runs    []journal.RunID `json:"runs,omitempty"`
	Next    string          `json:"next,omitempty"`    // the cursor behind it, empty on the last
	Audited int64           `json:"audited,omitempty"` // the newest entry of the audit, before the page is acted on
}
