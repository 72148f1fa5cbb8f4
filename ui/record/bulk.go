package record

import (
	"time"

	"github.com/reprise-run/reprise/runtime/bulk"
)

// Bulk is a job over many runs, or what one would be.
type Bulk struct {
	Run         string        `json:"run,omitempty" doc:"id of the job, which is a run; absent for a dry run, and if there is nothing to do"`
	Verb        string        `json:"verb" doc:"cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset, fork, edit, skip or delete"`
	Status      string        `json:"status,omitempty" doc:"of the job: open, completed, failed, cancelled or terminated; absent without one"`
	EndedBefore bool          `json:"ended_before,omitempty" doc:"whether the job with the key had ended before: nothing was done now"`
	Runs        int           `json:"runs" doc:"how many runs the filter selected when the job began"`
	Capped      bool          `json:"capped,omitempty" doc:"whether there are more: counting ends at a million"`
	Done        int           `json:"done" doc:"runs to which it was done"`
	NotNeeded   int           `json:"not_needed" doc:"runs that ended, or were deleted, before it was their turn"`
	Failed      int           `json:"failed" doc:"runs to which it could not be done"`
	Failures    []BulkFailure `json:"failures,omitempty" doc:"the first 20 of these; bulk show has all. Of a dry run those of the first 20 runs to which it could not be done"`
	Would       []Rewound     `json:"would,omitempty" doc:"of a dry run of retry, reset, fork, edit and skip: what would be done to the first 20 runs, as the verb says of one run"`
}

// BulkFailure is a run to which a job could not do what it should.
type BulkFailure struct {
	Run   string `json:"run" doc:"id of the run"`
	Error string `json:"error" doc:"beginning of the error"`
}

// BulkOf returns the record of a job without its id and status.
func BulkOf(p bulk.Progress) Bulk {
	r := Bulk{Verb: string(p.Verb), Runs: p.Runs, Capped: p.Capped, Done: p.Done, NotNeeded: p.NotNeeded, Failed: p.Failed}
	for _, f := range p.Failures {
		r.Failures = append(r.Failures, BulkFailure{Run: f.Run.String(), Error: f.Error})
	}
	return r
}

// OutcomePage is a page of what a job has done to each of its runs.
type OutcomePage struct {
	Outcomes []Outcome `json:"outcomes" doc:"in the order in which the job came to the runs"`
	Next     string    `json:"next,omitempty" doc:"cursor of the next page, absent on the last; a page may have no outcome although there are more"`
}

// Outcome is what came of one run of a job.
type Outcome struct {
	Run   string    `json:"run" doc:"id of the run"`
	What  string    `json:"what" doc:"done; not_needed: it ended, or was deleted, before it was its turn; failed; or unknown, if an earlier version executed the job"`
	Error string    `json:"error,omitempty" doc:"beginning of the error, if it failed"`
	At    time.Time `json:"at" doc:"when the job had done with it, and with those beside it"`
}

// OutcomeOf returns the record of what came of a run.
func OutcomeOf(o *bulk.Outcome) Outcome {
	return Outcome{Run: o.Run.String(), What: string(o.What), Error: o.Error, At: o.At.UTC()}
}

// Preview adds what a dry run says of some runs.
func (m *Maker) Preview(r *Bulk, list []bulk.Would) {
	for i := range list {
		if w := &list[i]; w.Back != nil {
			r.Would = append(r.Would, m.Rewound(w.Back, Nothing))
		} else {
			r.Failures = append(r.Failures, BulkFailure{Run: w.Run.String(), Error: w.Error})
		}
	}
}
