package api

import (
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func adminOperations() []*operation {
	sent := reflect.TypeFor[record.Sent]()
	return []*operation{
		{method: http.MethodPost, path: "/runs/{run}/terminate", verbs: []string{"run terminate"}, writes: true, body: reflect.TypeFor[reasonRequest](), answer: sent,
			summary: "Close an open run at once, without running its code. It cannot be undone.", do: terminateRun},
		{method: http.MethodPost, path: "/runs/{run}/pause", verbs: []string{"run pause"}, writes: true, body: reflect.TypeFor[pauseRequest](), answer: sent,
			summary: "Keep an open run from starting steps until it is resumed, and wait for its node's answer.", do: pauseRun},
		{method: http.MethodPost, path: "/runs/{run}/resume", verbs: []string{"run resume"}, writes: true, body: reflect.TypeFor[reasonRequest](), answer: sent,
			summary: "Let a paused, blocked, quarantined or parked run go on now.", do: resumeRun},
		{method: http.MethodPost, path: "/runs/{run}/labels", verbs: []string{"run set-labels"}, writes: true, body: reflect.TypeFor[labelsRequest](), answer: sent,
			summary: "Set and remove labels of a run, open or closed.", do: setLabels},
		{method: http.MethodPost, path: "/runs/{run}/priority", verbs: []string{"run set-priority"}, writes: true, body: reflect.TypeFor[priorityRequest](), answer: sent,
			summary: "Change the priority of an open run.", do: setPriority},
		{method: http.MethodDelete, path: "/runs/{run}", verbs: []string{"run delete"}, writes: true, params: []param{reason}, answer: sent,
			summary: "Delete a closed run with its history, messages and key. It cannot be undone.", do: deleteRun},
	}
}

// pauseRequest is the body of a pause of a run.
type pauseRequest struct {
	Reason       string `json:"reason,omitempty" doc:"why, for the audit and for those who ask why the run stands still"`
	CancelSteps  bool   `json:"cancel_steps,omitempty" doc:"interrupt steps that are executed; they start anew at the resume"`
	FreezeTimers bool   `json:"freeze_timers,omitempty" doc:"timers stand still until the resume, and have then what is left of their time now"`
}

// labelsRequest is the body of a change of labels.
type labelsRequest struct {
	Set    map[string]string `json:"set,omitempty" doc:"labels to set, by their names"`
	Remove []string          `json:"remove,omitempty" doc:"names of labels to remove"`
	Reason string            `json:"reason,omitempty" doc:"why, for the audit"`
}

// priorityRequest is the body of a change of priority.
type priorityRequest struct {
	Priority int16  `json:"priority" doc:"1, the most urgent, to 5"`
	Reason   string `json:"reason,omitempty" doc:"why, for the audit"`
}

func terminateRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "terminated", c.h.client.Terminate(c.ctx, run, c.body.(*reasonRequest).Reason))
}

func pauseRun(c *call) (any, error) {
	b := c.body.(*pauseRequest)
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	o := runtime.PauseOptions{Reason: b.Reason, CancelSteps: b.CancelSteps, FreezeTimers: b.FreezeTimers}
	return c.done(run, "paused", c.h.client.Pause(c.ctx, run, &o))
}

func resumeRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "resumed", c.h.client.Resume(c.because(c.body.(*reasonRequest).Reason), run))
}

func setLabels(c *call) (any, error) {
	b := c.body.(*labelsRequest)
	if len(b.Set)+len(b.Remove) == 0 {
		return nil, refuse(invalidRequest, "no label is named: set sets some, remove removes some")
	}
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "labels set", c.h.client.SetLabels(c.because(b.Reason), run, b.Set, b.Remove))
}

func setPriority(c *call) (any, error) {
	b := c.body.(*priorityRequest)
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "priority set", c.h.client.SetPriority(c.because(b.Reason), run, b.Priority))
}

func deleteRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "deleted", c.h.client.Delete(c.ctx, run))
}
