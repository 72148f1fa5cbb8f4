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
		wrong := []struct {
			why    string
			change func(s *schedule.Schedule)
		}{
			{`\"reprise.bulk\" is of the runtime's own`, func(s *schedule.Schedule) { s.Start.Workflow = "reprise.bulk" }},
			{`\"reprise.flow\" is of the runtime's own`, func(s *schedule.Schedule) { s.Start.OnFailure = "reprise.flow" }},
			{"70", func(s *schedule.Schedule) { s.Spec = calendar.Spec{Cron: []string{"70 * * * *"}} }},
			{`there is no zone \"Mars/Phobos\"`, func(s *schedule.Schedule) { s.Zone = "Mars/Phobos" }},
			{"bytes, at most 1048576 are allowed", func(s *schedule.Schedule) { s.Start.Input = []byte(`"` + strings.Repeat("x", 1_500_000) + `"`) }},
		}
		for _, w := range wrong {
			bad := every("s", time.Minute, job{})
			w.change(&bad)
			send(set, "reprise.schedules.apply", `{"put": [%s]}`, bad)
			send(r.info("s").Run, "reprise.schedule.order", `{"verb": "define", "schedule": %s}`, bad)
		}
		send(r.info("s").Run, "reprise.schedule.order", `{"verb": "define", "schedule": %s}`, every("another", time.Second, job{}))
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
		says := func(of, why string) {
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "schedule: a change was refused") && strings.Contains(line, of) && strings.Contains(line, why) {
					return
				}
			}
			t.Errorf("no line has %s and %s:\n%s", of, why, log.String())
		}
		for _, w := range wrong {
			says(`of="set default"`, w.why)
			says(`of="schedule s"`, w.why)
		}
		says(`of="schedule s"`, `the name \"another\" is not the schedule's, \"s\": apply the set`)
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
