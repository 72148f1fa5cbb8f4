package schedule_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// TestOverlap: a run takes two and a half slots, under each policy.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		overlap  schedule.Overlap
		deaf     bool
		want     string
		counts   schedule.Counts
		statuses string
	}{
		{"", false, "1m 4m 7m", schedule.Counts{Started: 3, Completed: 3, Skipped: 6}, "ccc"},
		{schedule.BufferOne, false, "1m 2m 4m 7m", schedule.Counts{Started: 4, Completed: 3, Skipped: 4}, "ccco"},
		{schedule.BufferAll, false, "1m 2m 3m 4m", schedule.Counts{Started: 4, Completed: 3}, "ccco"},
		{schedule.CancelOther, false, "1m 2m 3m 4m 5m 6m 7m 8m 9m", schedule.Counts{Started: 9}, "xxxxxxxxo"},
		{schedule.CancelOther, true, "1m 3m 6m 8m", schedule.Counts{Started: 4, Completed: 3, Skipped: 4}, "ccco"},
		{schedule.TerminateOther, true, "1m 2m 3m 4m 5m 6m 7m 8m 9m", schedule.Counts{Started: 9}, "tttttttto"},
		{schedule.Allow, false, "1m 2m 3m 4m 5m 6m 7m 8m 9m", schedule.Counts{Started: 9, Completed: 7}, "cccccccoo"},
	} {
		t.Run(string(c.overlap), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(r *rig) {
				s := every("s", time.Minute, job{Takes: 150 * time.Second, Deaf: c.deaf})
				s.Overlap = c.overlap
				r.apply(s)
				r.until(9*time.Minute + 45*time.Second)
				r.wantSlots("s", c.want)
				statuses := ""
				for _, s := range r.slots("s") {
					statuses += map[journal.Status]string{journal.Completed: "c", journal.Open: "o", journal.Cancelled: "x", journal.Terminated: "t"}[s.run.Status]
				}
				if statuses != c.statuses {
					t.Errorf("the runs are %s, want %s", statuses, c.statuses)
				}
				if got := r.info("s").Counts; got != c.counts {
					t.Errorf("the counts are %+v, want %+v", got, c.counts)
				}
			})
		})
	}
}
