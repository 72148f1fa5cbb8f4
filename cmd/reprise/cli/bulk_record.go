package cli

import (
	"fmt"

	"github.com/reprise-run/reprise/ui/record"
)

// bulkPlan is what the job will do, for people.
func bulkPlan(r *record.Bulk) string {
	if r.Capped {
		return fmt.Sprintf("%s more than %d runs", r.Verb, r.Runs)
	}
	return fmt.Sprintf("%s %d runs", r.Verb, r.Runs)
}

// bulkCounts are the numbers of a record for people, in one line.
func bulkCounts(r *record.Bulk) string {
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

func bulkText(r *record.Bulk) string {
	var f fields
	f.add("job", r.Run)
	f.add("status", r.Status)
	f.b.WriteString(bulkCounts(r) + "\n")
	for _, x := range r.Failures {
		f.item("%s  %s", x.Run, oneLine(x.Error, 200))
	}
	if r.Failed > len(r.Failures) {
		f.item("bulk show %s --failures lists all that failed", r.Run)
	}
	return f.b.String()
}
