package schedule_test

import (
	"context"
	"errors"
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

// TestOrderOfChanges: a change whose look at the store takes long is not overtaken by the next one.
func TestOrderOfChanges(t *testing.T) {
	t.Parallel()
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(schedule.Handle)
		e.Register(handleWork)
		r := &rig{TB: e, client: e.Client(), ctx: context.Background(), began: time.Now()}
		s := every("s", time.Minute, job{})
		r.apply(s)
		e.FailNext("look", errors.New("the first look fails, and is tried again a second later"))
		for _, s.Note = range []string{"first", "second"} {
			_, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: []schedule.Schedule{s}}, nil)
			r.must(err)
		}
		e.Sleep(10 * time.Second)
		if got := r.info("s").Schedule.Note; got != "second" {
			e.Errorf("the %s change has won", got)
		}
	})
}
