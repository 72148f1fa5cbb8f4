package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// TestFullLimit: a slot whose run a full limit refuses is skipped, and the schedule says why.
func TestFullLimit(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.must(runtime.SetLimit(r.ctx, r.client, journal.Limit{Name: "sync", Concurrency: 1, MaxBacklog: 1}))
		s := every("s", time.Minute, job{Takes: 150 * time.Second})
		s.Overlap, s.Start.Limits = schedule.Allow, []workflow.StepLimit{{Name: "sync"}}
		r.apply(s)
		r.until(5*time.Minute + 45*time.Second)
		r.wantSlots("s", "1m 2m 4m 5m")
		if got := r.info("s"); got.Counts.Started != 4 || got.Counts.Skipped != 1 || got.Counts.Failed != 0 || !strings.Contains(got.Refused, `limit "sync" is full`) {
			t.Errorf("the schedule is %+v", got.Info)
		}
	})
}
