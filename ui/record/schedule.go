package record

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// Schedule is a schedule.
type Schedule struct {
	ID         string          `json:"id" doc:"its name, behind that of its set and a slash if that is another than default"`
	Run        string          `json:"run" doc:"id of the run that it is"`
	State      string          `json:"state" doc:"active, waiting for the end of an open run, paused, new if no node has begun with it, or hidden if the reader is not shown what it says"`
	Paused     string          `json:"paused,omitempty" doc:"who or what has paused it, and why"`
	NextAt     *time.Time      `json:"next_at,omitempty" doc:"the next slot; absent if there is none, and while it waits"`
	Note       string          `json:"note,omitempty" doc:"what daylight saving does to the next slot"`
	Workflow   string          `json:"workflow,omitempty" doc:"what it starts"`
	Overlap    string          `json:"overlap,omitempty" doc:"what happens if a slot comes while a run is open: skip, buffer-one, buffer-all, cancel-other, terminate-other or allow"`
	Started    int             `json:"started" doc:"runs that it has started"`
	Completed  int             `json:"completed" doc:"those that have completed"`
	Failed     int             `json:"failed" doc:"those that have failed"`
	Failures   int             `json:"failures,omitempty" doc:"how many of its runs have failed in a row, at the end"`
	Refused    string          `json:"refused,omitempty" doc:"by which full limit a slot was skipped, the last time"`
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
	Coming     []Slot          `json:"coming,omitempty" doc:"if one schedule is shown: the next slots, also while it is paused"`
	Recent     []Run           `json:"recent,omitempty" doc:"if one schedule is shown: its newest runs"`
	May        []string        `json:"may,omitempty" doc:"if one schedule is shown, of an HTTP API that asks who may do what: the verbs, such as schedule pause, that the actor may do with it"`
}

// Slot is a slot that comes.
type Slot struct {
	At      time.Time `json:"at" doc:"the moment"`
	Local   string    `json:"local" doc:"what the clock of the zone shows then"`
	Note    string    `json:"note,omitempty" doc:"what daylight saving does to it"`
	Omitted bool      `json:"omitted,omitempty" doc:"whether it does not run, because of that"`
}

// ScheduleChange is what apply and delete have changed.
type ScheduleChange struct {
	Set     string   `json:"set" doc:"name of the set"`
	Added   []string `json:"added,omitempty" doc:"names of new schedules"`
	Changed []string `json:"changed,omitempty" doc:"names of those that differ"`
	Removed []string `json:"removed,omitempty" doc:"names of those that are gone"`
	Kept    int      `json:"kept" doc:"how many were as they are now"`
	Waits   bool     `json:"waits,omitempty" doc:"whether the change is stored, and no live node is there to make it: nothing else is known of it"`
}

// ScheduleTold is the answer to a verb that tells a schedule something.
type ScheduleTold struct {
	ID   string `json:"id" doc:"id of the schedule"`
	Done string `json:"done" doc:"what it was told: paused, resumed, triggered or backfill"`
	Key  string `json:"key,omitempty" doc:"of a trigger: the key that its run gets"`
}

// ScheduleOf returns the record of a schedule, without what comes and its newest runs.
func ScheduleOf(f *schedule.Found) Schedule {
	r := Schedule{ID: f.ID, Run: f.Run.String(), State: "active", Paused: f.Paused, NextAt: Moment(f.Next), Note: f.Note,
		Workflow: f.Schedule.Start.Workflow, Started: f.Counts.Started, Completed: f.Counts.Completed, Failed: f.Counts.Failed, Failures: f.Failures, Refused: f.Refused,
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
	r.Overlap = cmp.Or(string(f.Schedule.Overlap), string(schedule.Skip))
	for _, run := range f.Open {
		r.Open = append(r.Open, run.String())
	}
	if f.Last != nil {
		r.LastRun, r.LastSlotAt = f.Last.Run.String(), Moment(f.Last.Slot)
	}
	r.Definition, _ = json.Marshal(&f.Schedule)
	return r
}

// NextSlots are how many slots, and RecentRuns how many runs, a schedule is shown with.
const (
	NextSlots  = 10
	RecentRuns = 10
)

// ComingOf lists the next slots of a schedule; none if this machine has no data of its zone.
func ComingOf(f *schedule.Found, now time.Time) []Slot {
	times, err := calendar.Compile(f.Schedule.Spec)
	if err != nil || f.Schedule.Start.Workflow == "" {
		return nil
	}
	return SlotsOf(times, now, NextSlots)
}

// ScheduledBy selects the runs that a schedule has started.
func ScheduledBy(id string, limit int) journal.ListFilter {
	return journal.ListFilter{Labels: map[string]string{schedule.LabelSchedule: id}, Limit: limit}
}

// ScheduleChangeOf returns the record of a change.
func ScheduleChangeOf(set string, done *schedule.Changes) ScheduleChange {
	return ScheduleChange{Set: cmp.Or(set, schedule.DefaultSet), Added: done.Added, Changed: done.Changed, Removed: done.Removed, Kept: done.Kept}
}

// SlotsOf lists the slots that come.
func SlotsOf(times *calendar.Times, after time.Time, n int) []Slot {
	list := []Slot{}
	for _, s := range times.Preview(after, n) {
		list = append(list, Slot{At: s.At, Local: s.At.In(times.Zone()).Format("Mon 2006-01-02 15:04:05 MST"), Note: s.Note, Omitted: s.Omitted})
	}
	return list
}
