package api

import (
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func scopeOperations() []*operation {
	scope := reflect.TypeFor[record.Scope]()
	return []*operation{
		{method: http.MethodPost, path: "/queues/{queue}/pause", verbs: []string{"queue pause"}, writes: true, body: reflect.TypeFor[pauseQueueRequest](), answer: scope,
			summary: "Keep all runs of a queue from starting steps until it is resumed, and wait for all nodes.", do: pauseQueue},
		{method: http.MethodPost, path: "/queues/{queue}/resume", verbs: []string{"queue resume"}, writes: true, body: reflect.TypeFor[resumeQueueRequest](), answer: scope,
			summary: "Let the runs of a queue go on. The fields are those of its pause.", do: resumeQueue},
		{method: http.MethodPost, path: "/workflows/{workflow}/pause", verbs: []string{"workflow pause"}, writes: true, body: reflect.TypeFor[pauseWorkflowRequest](), answer: scope,
			summary: "Keep all runs of a workflow from starting steps until it is resumed, and wait for all nodes.", do: pauseWorkflow},
		{method: http.MethodPost, path: "/workflows/{workflow}/resume", verbs: []string{"workflow resume"}, writes: true, body: reflect.TypeFor[resumeWorkflowRequest](), answer: scope,
			summary: "Let the runs of a workflow go on. The fields are those of its pause.", do: resumeWorkflow},
		{method: http.MethodGet, path: "/pauses", verbs: []string{"queue list", "workflow list"}, summary: "List the queues and workflows that are paused.",
			answer: reflect.TypeFor[[]record.Pause](), do: listPauses},
	}
}

// pauseQueueRequest is the body of a pause of a queue.
type pauseQueueRequest struct {
	Workflow    string `json:"workflow,omitempty" doc:"only runs of this workflow"`
	Reason      string `json:"reason,omitempty" doc:"why, for the audit and for those who ask why a run stands still"`
	CancelSteps bool   `json:"cancel_steps,omitempty" doc:"interrupt steps that are executed; they start anew at the resume"`
}

// resumeQueueRequest is the body of a resume of a queue.
type resumeQueueRequest struct {
	Workflow string `json:"workflow,omitempty" doc:"the workflow that the pause named"`
	Reason   string `json:"reason,omitempty" doc:"why, for the audit"`
}

// pauseWorkflowRequest is the body of a pause of a workflow.
type pauseWorkflowRequest struct {
	Version     int32  `json:"version,omitempty" doc:"only runs of this version"`
	Queue       string `json:"queue,omitempty" doc:"only runs in this queue"`
	Reason      string `json:"reason,omitempty" doc:"why, for the audit and for those who ask why a run stands still"`
	CancelSteps bool   `json:"cancel_steps,omitempty" doc:"interrupt steps that are executed; they start anew at the resume"`
}

// resumeWorkflowRequest is the body of a resume of a workflow.
type resumeWorkflowRequest struct {
	Version int32  `json:"version,omitempty" doc:"the version that the pause named"`
	Queue   string `json:"queue,omitempty" doc:"the queue that the pause named"`
	Reason  string `json:"reason,omitempty" doc:"why, for the audit"`
}

func pauseQueue(c *call) (any, error) {
	b := c.body.(*pauseQueueRequest)
	return c.pause(journal.Scope{Queue: c.r.PathValue("queue"), Workflow: b.Workflow}, &runtime.PauseOptions{Reason: b.Reason, CancelSteps: b.CancelSteps})
}

func resumeQueue(c *call) (any, error) {
	b := c.body.(*resumeQueueRequest)
	return c.resume(journal.Scope{Queue: c.r.PathValue("queue"), Workflow: b.Workflow}, b.Reason)
}

func pauseWorkflow(c *call) (any, error) {
	b := c.body.(*pauseWorkflowRequest)
	return c.pause(journal.Scope{Workflow: c.r.PathValue("workflow"), Version: b.Version, Queue: b.Queue}, &runtime.PauseOptions{Reason: b.Reason, CancelSteps: b.CancelSteps})
}

func resumeWorkflow(c *call) (any, error) {
	b := c.body.(*resumeWorkflowRequest)
	return c.resume(journal.Scope{Workflow: c.r.PathValue("workflow"), Version: b.Version, Queue: b.Queue}, b.Reason)
}

// mayScope asks about a scope as about a run of which no more is known.
func (c *call) mayScope(s journal.Scope) error {
	return c.may(c.op.verb(), &journal.Run{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version})
}

func (c *call) pause(s journal.Scope, o *runtime.PauseOptions) (any, error) {
	if err := c.mayScope(s); err != nil {
		return nil, err
	}
	if err := c.h.client.PauseScope(c.ctx, s, o); err != nil {
		return nil, err
	}
	return record.ScopeOf(s, "paused"), nil
}

func (c *call) resume(s journal.Scope, reason string) (any, error) {
	if err := c.mayScope(s); err != nil {
		return nil, err
	}
	if err := c.h.client.ResumeScope(c.because(reason), s); err != nil {
		return nil, err
	}
	return record.ScopeOf(s, "resumed"), nil
}

func listPauses(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	list, err := c.h.client.Pauses(c.ctx)
	if err != nil {
		return nil, err
	}
	return record.PausesOf(list), nil
}
