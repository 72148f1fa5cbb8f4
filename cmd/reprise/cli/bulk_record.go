package cli

import (
	"fmt"

	"github.com/reprise-run/reprise/runtime/bulk"
)

// bulkRecord is a job over many runs, or what one would be.
type bulkRecord struct {
	Run       string              `json:"run,omitempty" doc:"id of the job, which is a run; absent for a dry run, and if there is nothing to do"`
	Verb      string              `json:"verb" doc:"cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset or delete"`
	Status    string              `json:"status,omitempty" doc:"of the job: open, completed, failed, cancelled or terminated; absent without one"`
	Runs      int                 `json:"runs" doc:"how many runs the filter selected when the job began"`
	Capped    bool                `json:"capped,omitempty" doc:"whether there are more: counting ends at a million"`
	Done      int                 `json:"done" doc:"runs to which it was done"`
	NotNeeded int                 `json:"not_needed" doc:"runs that ended, or were deleted, before it was their turn"`
	Failed    int                 `json:"failed" doc:"runs to which it could not be done"`
	Failures  []bulkFailureRecord `json:"failures,omitempty" doc:"the first 20 of these"`
}

// bulkFailureRecord is a run to which a job could not do what it should.
type bulkFailureRecord struct {
	Run   string `json:"run" doc:"id of the run"`
	Error string `json:"error" doc:"beginning of the error"`
}

// bulkOf returns the record of a job without its id and status.
func bulkOf(p bulk.Progress) bulkRecord {
	r := bulkRecord{Verb: string(p.Verb), Runs: p.Runs, Capped: p.Capped, Done: p.Done, NotNeeded: p.NotNeeded, Failed: p.Failed}
	for _, f := range p.Failures {
		r.Failures = append(r.Failures, bulkFailureRecord{Run: f.Run.String(), Error: f.Error})
	}
	return r
}

// plan is what the job will do, for people.
func (r *bulkRecord) plan() string {
	if r.Capped {
		return fmt.Sprintf("%s more than %d runs", r.Verb, r.Runs)
	}
	return fmt.Sprintf("%s %d runs", r.Verb, r.Runs)
}

// counts are the numbers of a record for people, in one line.
func (r *bulkRecord) counts() string {
	more := ""
	if r.Capped {
		more = "+"
	}
	text := fmt.Sprintf("%s: %d of %d%s runs done", r.Verb, r.Done, r.Runs, more)
	if r.NotNeeded > 0 {
		text += fmt.Sprintf(", %d not needed", r.NotNeeded)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed", r.Failed)
	}
	return text
}

func (r *bulkRecord) text(*printer) string {
	var f fields
	f.add("job", r.Run)
	f.add("status", r.Status)
	f.b.WriteString(r.counts() + "\n")
	for _, x := range r.Failures {
		f.item("%s  %s", x.Run, oneLine(x.Error, 200))
	}
	return f.b.String()
}
