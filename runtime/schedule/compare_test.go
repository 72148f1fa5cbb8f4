package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// TestCompare: what Apply would change is said before, also of a schedule that no node has begun
// with, and after a change.
func TestCompare(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		want := func(what string, want schedule.Changes, list ...schedule.Schedule) {
			t.Helper()
			got, err := schedule.Compare(r.ctx, r.client, schedule.Set{Schedules: list})
			r.must(err)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", what, d)
			}
		}
		a, b, other := every("a", time.Minute, job{}), every("b", time.Minute, job{}), every("a", time.Minute, job{Fails: true})
		want("before", schedule.Changes{Added: []string{"a"}}, a)
		schedules := journal.Scope{Workflow: schedule.Workflow}
		r.must(r.client.PauseScope(r.ctx, schedules, &runtime.PauseOptions{Reason: "so that none begins"}))
		r.apply(a)
		if r.info("a").Digest != "" {
			t.Fatal("the schedule has begun")
		}
		want("of one that has not begun", schedule.Changes{Kept: 1}, a)
		want("of one that has not begun, with another input", schedule.Changes{Added: []string{"b"}, Changed: []string{"a"}}, other, b)
		r.must(r.client.ResumeScope(r.ctx, schedules))
		r.apply(other)
		r.until(3*time.Minute + time.Second)
		want("after a change", schedule.Changes{Kept: 1}, other)
		want("of what it was", schedule.Changes{Changed: []string{"a"}}, a)
		want("none", schedule.Changes{Removed: []string{"a"}})
		if n := r.info("a").Failures; n != 3 {
			t.Errorf("%d runs in a row have failed, want 3", n)
		}
	})
}
