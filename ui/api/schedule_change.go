package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/record"
)

func scheduleChangeOperations() []*operation {
	change, told := reflect.TypeFor[record.ScheduleChange](), reflect.TypeFor[record.ScheduleTold]()
	return []*operation{
		{method: http.MethodPost, path: "/schedules", verbs: []string{"schedule apply"}, writes: true, params: []param{dryRun}, body: reflect.TypeFor[applyRequest](), answer: change,
			summary: "Make the schedules of a set those of the request, all at once: those that are gone are removed. The status is 202 if no live node makes the change.", do: applySchedules},
		{method: http.MethodPost, path: "/schedules/{schedule}/pause", verbs: []string{"schedule pause"}, writes: true, body: reflect.TypeFor[reasonRequest](), answer: told,
			summary: "Keep a schedule from starting runs until it is resumed. Triggers and backfills run.", do: pauseSchedule},
		{method: http.MethodPost, path: "/schedules/{schedule}/resume", verbs: []string{"schedule resume"}, writes: true, answer: told,
			summary: "Let a paused schedule go on, with the slots that come.", do: resumeSchedule},
		{method: http.MethodPost, path: "/schedules/{schedule}/trigger", verbs: []string{"schedule trigger"}, writes: true, body: reflect.TypeFor[triggerRequest](), answer: told,
			summary: "Start a run of a schedule now, also while it is paused.", do: triggerSchedule},
		{method: http.MethodPost, path: "/schedules/{schedule}/backfill", verbs: []string{"schedule backfill"}, writes: true, body: reflect.TypeFor[backfillRequest](), answer: told,
			summary: "Start the runs of past slots that have none.", do: backfillSchedule},
		{method: http.MethodDelete, path: "/schedules/{schedule}", verbs: []string{"schedule delete"}, writes: true, answer: change,
			summary: "Remove a schedule. Runs that it has started go on. The status is 202 if no live node makes the change.", do: deleteSchedule},
	}
}

// applyRequest is the body of an apply.
type applyRequest struct {
	Set       string          `json:"set,omitempty" doc:"name of the set; default default"`
	Schedules json.RawMessage `json:"schedules" doc:"all schedules of the set, with the fields of docs/schedules.md; an empty list removes all"`
}

// applySchedules makes a set what the request says. Who may do that to a set does it to all of it,
// and to every workflow that its schedules start, so Allow is asked about these too.
func applySchedules(c *call) (any, error) {
	b := c.body.(*applyRequest)
	set := schedule.Set{Name: b.Set}
	if err := strictly(b.Schedules, &set.Schedules); err != nil {
		return nil, refuse(invalidRequest, "field %q: %v", "schedules", err)
	}
	if set.Schedules == nil {
		return nil, refuse(invalidRequest, "field %q is no list: an empty one, [], removes all schedules of the set", "schedules")
	}
	name := set.Name
	if name == "" {
		name = schedule.DefaultSet
	}
	if err := c.may(c.op.verb(), &journal.Run{Workflow: schedule.SetWorkflow, Labels: map[string]string{schedule.LabelSet: name}}); err != nil {
		return nil, err
	}
	for i := range set.Schedules {
		st := &set.Schedules[i].Start
		run := journal.Run{Workflow: st.Workflow, Version: st.Version, Queue: st.Queue, Priority: st.Priority, Labels: st.Labels, Headers: st.Headers}
		if err := c.may("run start", &run); err != nil {
			return nil, err
		}
	}
	if c.flag(dryRun.name) {
		would, err := schedule.Compare(c.ctx, c.h.client, set)
		if err != nil {
			return nil, err
		}
		return new(record.ScheduleChangeOf(name, &would)), nil
	}
	applied, err := schedule.Apply(c.ctx, c.h.client, set, nil)
	if err != nil {
		return nil, err
	}
	return changedBy(c, name, applied)
}

// changedBy waits until a node has made a change. It is stored whether there is such a node or not.
func changedBy(c *call, set string, applied *schedule.Applied) (any, error) {
	nodes, err := c.h.journal.Store().Nodes(c.ctx)
	if err != nil {
		return nil, err
	}
	serves := func(n journal.Node) bool {
		return slices.ContainsFunc(n.Routes, func(r journal.Route) bool { return r.Workflow == schedule.SetWorkflow })
	}
	if !slices.ContainsFunc(nodes, serves) {
		c.code = http.StatusAccepted
		return &record.ScheduleChange{Set: set, Waits: true}, nil
	}
	done, err := applied.Wait(c.ctx)
	if err != nil && c.ctx.Err() != nil {
		return nil, howTo(timedOut, "GET schedules shows the change when a node has made it", "the change of set %q is stored, and no node has made it in time", set)
	}
	if err != nil {
		return nil, err
	}
	return new(record.ScheduleChangeOf(set, &done)), nil
}

func deleteSchedule(c *call) (any, error) {
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	set, name := schedule.Split(f.ID)
	applied, err := schedule.Delete(c.ctx, c.h.client, set, []string{name}, nil)
	if err != nil {
		return nil, err
	}
	return changedBy(c, set, applied)
}

// toldTo says what a schedule was told.
func toldTo(f *schedule.Found, done, key string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return &record.ScheduleTold{ID: f.ID, Done: done, Key: key}, nil
}

func pauseSchedule(c *call) (any, error) {
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	return toldTo(&f, "paused", "", schedule.Pause(c.ctx, c.h.client, f.ID, c.body.(*reasonRequest).Reason))
}

func resumeSchedule(c *call) (any, error) {
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	return toldTo(&f, "resumed", "", schedule.Resume(c.ctx, c.h.client, f.ID))
}

// triggerRequest is the body of a trigger.
type triggerRequest struct {
	Key     string `json:"key,omitempty" doc:"a second trigger with it does nothing"`
	Overlap string `json:"overlap,omitempty" doc:"what happens if a run is open: skip, buffer-one, buffer-all, cancel-other, terminate-other or allow; default what the schedule says"`
}

func triggerSchedule(c *call) (any, error) {
	b := c.body.(*triggerRequest)
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	key, err := schedule.Trigger(c.ctx, c.h.client, f.ID, &schedule.TriggerOptions{Key: b.Key, Overlap: schedule.Overlap(b.Overlap)})
	return toldTo(&f, "triggered", key, err)
}

// backfillRequest is the body of a backfill.
type backfillRequest struct {
	From   string `json:"from" doc:"the first moment: 2026-11-30 or 2026-11-30T02:30:00Z; in UTC if it names no zone"`
	To     string `json:"to,omitempty" doc:"the last moment, likewise; default now"`
	AtOnce bool   `json:"at_once,omitempty" doc:"start the runs side by side, 100 a second, instead of one behind the other"`
}

func backfillSchedule(c *call) (any, error) {
	b := c.body.(*backfillRequest)
	from, err := record.ParseTime(b.From)
	if err != nil {
		return nil, refuse(invalidRequest, "field %q: %v", "from", err)
	}
	to := time.Now()
	if b.To != "" {
		if to, err = record.ParseTime(b.To); err != nil {
			return nil, refuse(invalidRequest, "field %q: %v", "to", err)
		}
	}
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	return toldTo(&f, "backfill", "", schedule.Backfill(c.ctx, c.h.client, f.ID, from, to, &schedule.BackfillOptions{AtOnce: b.AtOnce}))
}
