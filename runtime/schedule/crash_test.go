package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/runtimetest"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// TestEveryCrash: with a crash at every commit of a set, of schedules and of their runs, each slot
// has one run, and every order is obeyed once.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Register(schedule.Handle)
		e.Register(handleWork)
		r := &rig{TB: e, client: e.Client(), ctx: context.Background(), began: time.Now()}
		one, two := every("one", time.Minute, job{Takes: 5 * time.Second}), every("two", time.Minute, job{Takes: 90 * time.Second})
		two.Overlap, two.Start.Labels = schedule.TerminateOther, map[string]string{"kind": "long"}
		r.apply(one, two)
		e.Sleep(150 * time.Second)
		_, err := schedule.Trigger(r.ctx, r.client, "one", &schedule.TriggerOptions{Key: "now"})
		r.must(err)
		r.must(schedule.Backfill(r.ctx, r.client, "one", r.began.Add(-time.Minute), r.began, nil))
		e.Sleep(20 * time.Second)
		r.must(schedule.Pause(r.ctx, r.client, "one", ""))
		e.Sleep(20 * time.Second)
		r.apply(one)
		e.Sleep(20 * time.Second)
		r.wantSlots("one", "-1m 0s 1m 2m 2m30s")
		r.wantSlots("two", "1m 2m 3m")
		if got := r.info("one").Counts; got != (schedule.Counts{Started: 5, Completed: 5}) {
			e.Errorf("the counts are %+v", got)
		}
		list := r.slots("two")
		if list[0].run.Status != journal.Terminated || list[1].run.Status != journal.Terminated || list[0].run.Labels["kind"] != "long" {
			e.Errorf("the first runs are %s and %s", list[0].run.Status, list[1].run.Status)
		}
	})
}
