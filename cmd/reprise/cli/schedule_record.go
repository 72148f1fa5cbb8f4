package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/record"
)

var scheduleColumns = []column[record.Schedule]{
	{"SCHEDULE", func(_ *printer, r *record.Schedule) string { return oneLine(r.ID, 60) }},
	{"STATE", func(_ *printer, r *record.Schedule) string { return r.State }},
	{"NEXT", func(p *printer, r *record.Schedule) string { return p.maybe(r.NextAt) }},
	{"LAST", func(p *printer, r *record.Schedule) string { return p.maybe(r.LastSlotAt) }},
	{"STARTED", func(_ *printer, r *record.Schedule) string { return strconv.Itoa(r.Started) }},
	{"FAILED", func(_ *printer, r *record.Schedule) string { return strconv.Itoa(r.Failed) }},
	{"WORKFLOW", func(_ *printer, r *record.Schedule) string { return oneLine(r.Workflow, 60) }},
	{"ABOUT", func(_ *printer, r *record.Schedule) string { return oneLine(r.Paused+r.Note, 100) }},
}

// maybe is a moment that may be missing.
func (t times) maybe(m *time.Time) string {
	if m == nil {
		return "-"
	}
	return t.at(*m)
}

// scheduleText is a schedule for people.
func scheduleText(p *printer, r *record.Schedule) string {
	var f fields
	f.add("schedule", r.ID)
	f.add("run", r.Run)
	f.add("state", r.State)
	f.add("paused", oneLine(r.Paused, 300))
	f.add("next", p.maybe(r.NextAt))
	f.add("note", r.Note)
	f.add("workflow", oneLine(r.Workflow, 100))
	f.add("last slot", p.maybe(r.LastSlotAt))
	f.add("last run", r.LastRun)
	f.add("overlap", r.Overlap)
	if r.Refused != "" {
		f.add("refused", r.Refused)
	}
	if r.Failures > 0 {
		f.add("failed", fmt.Sprintf("%d in a row", r.Failures))
	}
	f.add("runs", fmt.Sprintf("%d started, %d completed, %d failed, %d open", r.Started, r.Completed, r.Failed, r.OpenRuns))
	f.add("slots", fmt.Sprintf("%d skipped, %d missed, %d existed, %d queued", r.Skipped, r.Missed, r.Existed, r.Queued))
	if r.Backfills > 0 {
		f.add("backfills", strconv.Itoa(r.Backfills))
	}
	for _, run := range r.Open {
		f.add("open", run)
	}
	if r.Definition != nil {
		f.add("definition", clean(string(r.Definition)))
	}
	if len(r.Coming) > 0 {
		f.head("coming")
		for _, s := range r.Coming {
			f.item("%s", strings.TrimSpace(s.Local+"  "+s.Note))
		}
	}
	if len(r.Recent) > 0 {
		f.head("newest runs")
		for i := range r.Recent {
			run := &r.Recent[i]
			f.item("%s  %s  %s  %s", run.ID, run.Labels[schedule.LabelSlot], run.Word(), oneLine(run.About(), 80))
		}
	}
	return f.b.String()
}

var slotColumns = []column[record.Slot]{
	{"AT", func(p *printer, r *record.Slot) string { return r.At.Format(time.RFC3339) }},
	{"LOCAL", func(_ *printer, r *record.Slot) string { return r.Local }},
	{"NOTE", func(_ *printer, r *record.Slot) string { return r.Note }},
}

// changeText is a change of a set for people.
func changeText(_ *printer, r *record.ScheduleChange) string {
	var f fields
	f.add("set", r.Set)
	f.add("added", strings.Join(r.Added, " "))
	f.add("changed", strings.Join(r.Changed, " "))
	f.add("removed", strings.Join(r.Removed, " "))
	f.add("kept", strconv.Itoa(r.Kept))
	return f.b.String()
}
