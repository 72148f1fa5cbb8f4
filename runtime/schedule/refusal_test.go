package schedule_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// TestRefusedByRuns: a message that did not come by Apply changes nothing if Apply would have
// refused it, and a line of the node's log names what is wrong. Sets and schedules go on.
func TestRefusedByRuns(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.apply(every("s", time.Minute, job{}))
		r.leave()
		var log bytes.Buffer // is read when the node has ended
		r.serve(&runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		set, err := r.client.FindKey(r.ctx, "schedules:default")
		r.must(err)
		send := func(run journal.RunID, name workflow.Signal[json.RawMessage], format string, s schedule.Schedule) {
			text, err := json.Marshal(s)
			r.must(err)
			r.must(runtime.Signal(r.ctx, r.client, run, name, json.RawMessage(fmt.Sprintf(format, text)), nil))
		}
		own, never := every("own", time.Minute, job{}), every("never", time.Minute, job{})
		own.Start.Workflow = "reprise.bulk"
		never.Spec = calendar.Spec{Cron: []string{"70 * * * *"}}
		for _, bad := range []schedule.Schedule{own, never} {
			send(set, "reprise.schedules.apply", `{"put": [%s]}`, bad)
			send(r.info("s").Run, "reprise.schedule.order", `{"verb": "define", "schedule": %s}`, bad)
		}
		r.until(90 * time.Second)
		r.wantSlots("s", "1m")
		if got := r.apply(every("s", time.Minute, job{})); got.Kept != 1 || len(got.Removed) > 0 {
			t.Errorf("the set has changed: %+v", got)
		}
		for _, workflow := range []string{"reprise.bulk", schedule.Workflow} {
			page, err := r.client.List(r.ctx, journal.ListFilter{Workflow: workflow})
			if want := map[bool]int{true: 1}[workflow == schedule.Workflow]; err != nil || len(page.Runs) != want {
				t.Errorf("there are %d runs of %s, want %d, %v", len(page.Runs), workflow, want, err)
			}
		}
		r.leave()
		for _, want := range []string{`of="set default"`, `of="schedule s"`} {
			for _, why := range []string{`\"reprise.bulk\" is of the runtime's own`, "70"} {
				found := false
				for line := range strings.Lines(log.String()) {
					found = found || strings.Contains(line, "schedule: a change was refused") && strings.Contains(line, want) && strings.Contains(line, why)
				}
				if !found {
					t.Errorf("no line has %s and %s:\n%s", want, why, log.String())
				}
			}
		}
	})
}

// TestSetIsFull: puts one by one do not make a set larger than one that is applied may be.
func TestSetIsFull(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		full := schedule.Set{}
		for i := range 2000 {
			full.Schedules = append(full.Schedules, every(fmt.Sprint("s", i), 24*time.Hour, job{}))
		}
		put := func(s schedule.Set) error {
			a, err := schedule.Put(r.ctx, r.client, s, nil)
			r.must(err)
			_, err = a.Wait(r.ctx)
			return err
		}
		r.must(put(full))
		one := schedule.Set{Schedules: []schedule.Schedule{every("one", 24*time.Hour, job{})}}
		if err := put(one); err == nil || !strings.Contains(err.Error(), `set "default" of schedules: it would have 2001 schedules, at most 2000`) {
			t.Errorf("one more: %v", err)
		}
		full.Schedules = full.Schedules[:1]
		full.Schedules[0].Note = "of one that is there"
		r.must(put(full))
		d, err := schedule.Delete(r.ctx, r.client, "", []string{"s7"}, nil)
		r.must(err)
		_, err = d.Wait(r.ctx)
		r.must(err)
		r.must(put(one))
	})
}

// TestAppliedLongAgo: a set does not refuse what was right when it was applied.
func TestAppliedLongAgo(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		s := every("s", time.Minute, job{})
		s.Spec = calendar.Spec{On: []calendar.Fields{{Year: "2000", Month: "jan", Day: "1", Minute: "1"}}}
		a, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: []schedule.Schedule{s}}, nil)
		r.must(err)
		r.until(2 * time.Hour)
		r.serve(nil)
		got, err := a.Wait(r.ctx)
		r.must(err)
		if len(got.Added) != 1 {
			t.Errorf("the change is %+v", got)
		}
	})
}
