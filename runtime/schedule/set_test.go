package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// TestApply: what is new, changed and gone, and that the rest is left alone.
func TestApply(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		a, b, c := every("a", time.Minute, job{}), every("b", time.Minute, job{}), every("c", time.Minute, job{})
		want := func(what string, got, want schedule.Changes) {
			t.Helper()
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", what, d)
			}
		}
		want("the first time", r.apply(a, b), schedule.Changes{Added: []string{"a", "b"}})
		want("again", r.apply(b, a), schedule.Changes{Kept: 2})
		r.until(90 * time.Second)
		a.Every[0].Every = calendar.Duration(2 * time.Minute)
		want("others", r.apply(a, c), schedule.Changes{Added: []string{"c"}, Changed: []string{"a"}, Removed: []string{"b"}})
		r.until(4*time.Minute + 30*time.Second)
		r.wantSlots("a", "1m 2m 4m")
		r.wantSlots("b", "1m")
		r.wantSlots("c", "2m 3m 4m")
		// The name of one that was removed comes back at once, with a run of its own.
		r.apply()
		want("none", r.apply(), schedule.Changes{})
		want("c again", r.apply(c), schedule.Changes{Added: []string{"c"}})
		r.until(5*time.Minute + 30*time.Second)
		r.wantSlots("a", "1m 2m 4m")
		r.wantSlots("c", "2m 3m 4m 5m")
		// A set of another name is not touched, and its schedules have ids of their own.
		a2, err := schedule.Put(r.ctx, r.client, schedule.Set{Name: "shop7", Schedules: []schedule.Schedule{c}}, nil)
		r.must(err)
		_, err = a2.Wait(r.ctx)
		r.must(err)
		r.until(6*time.Minute + 30*time.Second)
		r.wantSlots("c", "2m 3m 4m 5m 6m")
		r.wantSlots("shop7/c", "6m")
		all, err := schedule.List(r.ctx, r.client, "")
		r.must(err)
		if len(all) != 2 || all[0].ID != "c" || all[1].ID != "shop7/c" || all[1].Schedule.Name != "c" || all[1].Schedule.Start.Input != nil {
			t.Errorf("the list is %+v", all)
		}
		// An operator terminates one; the next Apply makes it anew.
		r.must(r.client.Terminate(r.ctx, r.info("c").Run, ""))
		want("after the end", r.apply(c), schedule.Changes{Added: []string{"c"}})
		d, err := schedule.Delete(r.ctx, r.client, "", []string{"c", "nobody"}, nil)
		r.must(err)
		gone, err := d.Wait(r.ctx)
		r.must(err)
		want("delete", gone, schedule.Changes{Removed: []string{"c"}})
		r.until(7 * time.Minute)
		if _, err := schedule.Get(r.ctx, r.client, "c"); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("a schedule that was deleted is found: %v", err)
		}
	})
}

// TestChangesInARow: the last change wins, whoever made it and however.
func TestChangesInARow(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		s := every("s", time.Minute, job{})
		for i := range 10 {
			s.Note = fmt.Sprint(i)
			list := []schedule.Schedule{s}
			if i%3 == 2 {
				list = nil
			}
			_, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: list}, nil)
			r.must(err)
		}
		r.until(90 * time.Second)
		r.wantSlots("s", "1m")
		if i := r.info("s"); i.Schedule.Note != "9" {
			t.Errorf("it shows %+v", i)
		}
		open := journal.Open
		page, err := r.client.List(r.ctx, journal.ListFilter{Workflow: schedule.Workflow, Status: &open})
		r.must(err)
		if len(page.Runs) != 1 {
			t.Errorf("there are %d runs of schedules, want 1", len(page.Runs))
		}
	})
}

// TestRefused: what cannot be applied is refused with all of its problems, and nothing is stored.
func TestRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		good := every("good", time.Minute, job{})
		change := func(f func(*schedule.Schedule)) schedule.Schedule {
			s := every("s", time.Minute, job{})
			f(&s)
			return s
		}
		for _, c := range []struct {
			s    schedule.Schedule
			want []string
		}{
			{change(func(s *schedule.Schedule) { s.Name, s.Overlap, s.Zone = "a b", "queue", "Europe/Berln" }),
				[]string{`schedule "a b": the name "a b" may have letters`, `did you mean Europe/Berlin`, `overlap: "queue" must be skip`}},
			{change(func(s *schedule.Schedule) { s.Name = "good" }), []string{`schedule "good" is there twice`}},
			{change(func(s *schedule.Schedule) { s.Start.Workflow = "" }), []string{"start: "}},
			{change(func(s *schedule.Schedule) { s.Start.Workflow = "reprise.bulk" }), []string{"is of the runtime's own"}},
			{change(func(s *schedule.Schedule) { s.Start.OnFailure = "reprise.bulk" }), []string{"is of the runtime's own"}},
			{change(func(s *schedule.Schedule) { s.Start.Labels = map[string]string{"slot": "x"} }), []string{`the label "slot" is the schedule's`}},
			{change(func(s *schedule.Schedule) { s.Start.Priority = 9 }), []string{"start: ", "9"}},
			{change(func(s *schedule.Schedule) { s.Start.Input = []byte("{") }), []string{"the input is no JSON"}},
			{change(func(s *schedule.Schedule) { s.Buffer = 5 }), []string{"it belongs to the overlap buffer-all"}},
			{change(func(s *schedule.Schedule) { s.Overlap, s.Buffer = schedule.BufferAll, 5000 }), []string{"buffer: 5000 must be from 1 to 1000"}},
			{change(func(s *schedule.Schedule) { s.CatchUp.Window = -1 }), []string{"catch_up.window: -1ns must be"}},
			{change(func(s *schedule.Schedule) { s.CatchUp.Limit = 5000 }), []string{"catch_up.limit: 5000"}},
			{change(func(s *schedule.Schedule) { s.PauseAfter = -1 }), []string{"pause_after: -1"}},
			{change(func(s *schedule.Schedule) { s.Note = strings.Repeat("x", 501) }), []string{"note: it has 501 bytes"}},
			{change(func(s *schedule.Schedule) { s.Start.OnFailure = strings.Repeat("x", 9000) }), []string{"bytes without its input"}},
			{change(func(s *schedule.Schedule) { s.Spec = calendar.Spec{On: []calendar.Fields{{Year: "1999"}}} }), []string{"no time that is still to come"}},
		} {
			_, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: []schedule.Schedule{good, c.s}}, nil)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, journal.ErrInvalid) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			}
		}
		_, err := schedule.Apply(r.ctx, r.client, many(10_001), nil)
		if err == nil || !strings.Contains(err.Error(), "10001 schedules, at most 10000") {
			t.Errorf("too many schedules: %v", err)
		}
		large := many(20)
		for i := range large.Schedules {
			large.Schedules[i].Start.Input = []byte(`"` + strings.Repeat("x", 1_000_000) + `"`)
		}
		if _, err := schedule.Apply(r.ctx, r.client, large, nil); err == nil || !strings.Contains(err.Error(), "it has more than 16777216 bytes") {
			t.Errorf("many large inputs: %.200v", err)
		}
		large.Schedules[7].Start.Input = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
		if _, err := schedule.Apply(r.ctx, r.client, large, nil); err == nil || !strings.Contains(err.Error(), `schedule "s7" has 1048`) {
			t.Errorf("a large input: %.200v", err)
		}
		for _, err := range []error{
			schedule.Pause(r.ctx, r.client, "a/b/c", ""), schedule.Resume(r.ctx, r.client, ""),
			schedule.Backfill(r.ctx, r.client, "s", time.Now(), time.Now().Add(time.Hour), nil),
			schedule.Backfill(r.ctx, r.client, "s", time.Now(), time.Now().Add(-time.Hour), nil),
		} {
			if !errors.Is(err, journal.ErrInvalid) {
				t.Errorf("the error is %v", err)
			}
		}
		if _, err := schedule.Trigger(r.ctx, r.client, "s", &schedule.TriggerOptions{Overlap: "queue"}); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("a trigger with a policy that is none: %v", err)
		}
		if _, err := schedule.Trigger(r.ctx, r.client, "s", nil); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("a trigger of a schedule that is not there: %v", err)
		}
		if page, err := r.client.List(r.ctx, journal.ListFilter{}); err != nil || len(page.Runs) != 0 {
			t.Errorf("there are %d runs, %v", len(page.Runs), err)
		}
	})
}
