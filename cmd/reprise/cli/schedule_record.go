package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
	"github.com/reprise-run/reprise/ui/record"
)

// scheduleRecord is a schedule.
type scheduleRecord struct {
	ID         string          `json:"id" doc:"its name, behind that of its set and a slash if that is another than default"`
	Run        string          `json:"run" doc:"id of the run that it is"`
	State      string          `json:"state" doc:"active, waiting for the end of an open run, paused, or new if no node has begun with it"`
	Paused     string          `json:"paused,omitempty" doc:"who or what has paused it, and why"`
	NextAt     *time.Time      `json:"next_at,omitempty" doc:"the next slot; absent if there is none, and while it waits"`
	Note       string          `json:"note,omitempty" doc:"what daylight saving does to the next slot"`
	Workflow   string          `json:"workflow,omitempty" doc:"what it starts"`
	Started    int             `json:"started" doc:"runs that it has started"`
	Completed  int             `json:"completed" doc:"those that have completed"`
	Failed     int             `json:"failed" doc:"those that have failed"`
	Skipped    int             `json:"skipped" doc:"slots and triggers that the overlap policy has left out"`
	Missed     int             `json:"missed" doc:"slots that were older than the catch-up window when a node came"`
	Existed    int             `json:"existed" doc:"slots whose run was there already"`
	Open       []string        `json:"open,omitempty" doc:"ids of the first 10 open runs"`
	OpenRuns   int             `json:"open_runs" doc:"how many are open"`
	Queued     int             `json:"queued" doc:"slots that wait for the end of open runs"`
	Backfills  int             `json:"backfills" doc:"how many are under way"`
	LastSlotAt *time.Time      `json:"last_slot_at,omitempty" doc:"slot of the newest run"`
	LastRun    string          `json:"last_run,omitempty" doc:"id of the newest run"`
	Definition json.RawMessage `json:"definition,omitempty" doc:"the schedule as it was applied, without its input"`
}

// slotRecord is a slot that comes.
type slotRecord struct {
	At      time.Time `json:"at" doc:"the moment"`
	Local   string    `json:"local" doc:"what the clock of the zone shows then"`
	Note    string    `json:"note,omitempty" doc:"what daylight saving does to it"`
	Omitted bool      `json:"omitted,omitempty" doc:"whether it does not run, because of that"`
}

// scheduleChangeRecord is what apply and delete have changed.
type scheduleChangeRecord struct {
	Set     string   `json:"set" doc:"name of the set"`
	Added   []string `json:"added,omitempty" doc:"names of new schedules"`
	Changed []string `json:"changed,omitempty" doc:"names of those that differ"`
	Removed []string `json:"removed,omitempty" doc:"names of those that are gone"`
	Kept    int      `json:"kept" doc:"how many were as they are now"`
}

// scheduleToldRecord is the answer to a verb that tells a schedule something.
type scheduleToldRecord struct {
	ID   string `json:"id" doc:"id of the schedule"`
	Done string `json:"done" doc:"what it was told: paused, resumed, triggered or backfill"`
	Key  string `json:"key,omitempty" doc:"of a trigger: the key that its run gets"`
}

func scheduleOf(f *schedule.Found) scheduleRecord {
	r := scheduleRecord{ID: f.ID, Run: f.Run.String(), State: "active", Paused: f.Paused, NextAt: record.Moment(f.Next), Note: f.Note,
		Workflow: f.Schedule.Start.Workflow, Started: f.Counts.Started, Completed: f.Counts.Completed, Failed: f.Counts.Failed,
		Skipped: f.Counts.Skipped, Missed: f.Counts.Missed, Existed: f.Counts.Existed, OpenRuns: f.OpenRuns, Queued: f.Queued, Backfills: f.Backfill}
	switch {
	case r.Workflow == "":
		r.State = "new"
		return r
	case r.Paused != "":
		r.State = "paused"
	case f.Waiting:
		r.State = "waiting"
	}
	for _, run := range f.Open {
		r.Open = append(r.Open, run.String())
	}
	if f.Last != nil {
		r.LastRun, r.LastSlotAt = f.Last.Run.String(), record.Moment(f.Last.Slot)
	}
	r.Definition, _ = json.Marshal(&f.Schedule)
	return r
}

var scheduleColumns = []column[scheduleRecord]{
	{"SCHEDULE", func(_ *printer, r *scheduleRecord) string { return oneLine(r.ID, 60) }},
	{"STATE", func(_ *printer, r *scheduleRecord) string { return r.State }},
	{"NEXT", func(p *printer, r *scheduleRecord) string { return p.maybe(r.NextAt) }},
	{"LAST", func(p *printer, r *scheduleRecord) string { return p.maybe(r.LastSlotAt) }},
	{"STARTED", func(_ *printer, r *scheduleRecord) string { return strconv.Itoa(r.Started) }},
	{"FAILED", func(_ *printer, r *scheduleRecord) string { return strconv.Itoa(r.Failed) }},
	{"WORKFLOW", func(_ *printer, r *scheduleRecord) string { return oneLine(r.Workflow, 60) }},
	{"ABOUT", func(_ *printer, r *scheduleRecord) string { return oneLine(r.Paused+r.Note, 100) }},
}

// maybe is a moment that may be missing.
func (t times) maybe(m *time.Time) string {
	if m == nil {
		return "-"
	}
	return t.at(*m)
}

func (r *scheduleRecord) text(p *printer) string {
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
	return f.b.String()
}

var slotColumns = []column[slotRecord]{
	{"AT", func(p *printer, r *slotRecord) string { return r.At.Format(time.RFC3339) }},
	{"LOCAL", func(_ *printer, r *slotRecord) string { return r.Local }},
	{"NOTE", func(_ *printer, r *slotRecord) string { return r.Note }},
}

// slotsOf lists the slots that come.
func slotsOf(times *calendar.Times, after time.Time, n int) []slotRecord {
	list := []slotRecord{}
	for _, s := range times.Preview(after, n) {
		list = append(list, slotRecord{At: s.At, Local: s.At.In(times.Zone()).Format("Mon 2006-01-02 15:04:05 MST"), Note: s.Note, Omitted: s.Omitted})
	}
	return list
}

func (r *scheduleChangeRecord) text(*printer) string {
	var f fields
	f.add("set", r.Set)
	f.add("added", strings.Join(r.Added, " "))
	f.add("changed", strings.Join(r.Changed, " "))
	f.add("removed", strings.Join(r.Removed, " "))
	f.add("kept", strconv.Itoa(r.Kept))
	return f.b.String()
}
