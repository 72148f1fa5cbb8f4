package record

import (
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Run is a run.
type Run struct {
	ID         string            `json:"id" doc:"id of the run"`
	Key        string            `json:"key,omitempty" doc:"the caller's own name for it"`
	Workflow   string            `json:"workflow" doc:"name of the workflow"`
	Version    int32             `json:"version" doc:"version of the workflow"`
	Queue      string            `json:"queue" doc:"queue whose nodes execute it"`
	Priority   int16             `json:"priority" doc:"1, the most urgent, to 5"`
	Status     string            `json:"status" doc:"open, completed, failed, cancelled or terminated"`
	State      string            `json:"state,omitempty" doc:"of an open run: limited while it waits for its limits, ready, blocked, quarantined, paused, or pausing or interrupting until its node has answered"`
	Problem    string            `json:"problem,omitempty" doc:"why it is blocked, quarantined, failed, cancelled, terminated or unreadable"`
	Labels     map[string]string `json:"labels,omitempty" doc:"its labels, as they are now"`
	Generation int32             `json:"generation" doc:"1, and one more for each continue-as-new"`
	Parent     string            `json:"parent,omitempty" doc:"id of the run that waits for it"`
	ParentCmd  int32             `json:"parent_cmd,omitempty" doc:"of a child: number of the command of its parent that has started it"`
	ParentGen  int32             `json:"parent_generation,omitempty" doc:"of a child: the generation of its parent that has started it"`
	Node       int32             `json:"node,omitempty" doc:"number of the node that owns it"`
	CreatedAt  time.Time         `json:"created_at" doc:"when it was started"`
	StartAt    time.Time         `json:"start_at" doc:"when its code may begin"`
	ClosedAt   *time.Time        `json:"closed_at,omitempty" doc:"when it ended"`
	VisibleAt  *time.Time        `json:"visible_at,omitempty" doc:"when somebody looks at it next; absent while a node owns it, only a message wakes it, or its timers stand still"`
	DeadlineAt *time.Time        `json:"deadline_at,omitempty" doc:"when its time is up; absent while that stands still"`
	Waiting    []string          `json:"waiting,omitempty" doc:"what the parked run waits for, in words"`
}

// RunPage is a page of runs.
type RunPage struct {
	Runs []Run  `json:"runs" doc:"the runs, newest first unless the condition has an order"`
	Next string `json:"next,omitempty" doc:"cursor of the next page; absent on the last one"`
}

// Changes are what has changed in a page of runs.
type Changes struct {
	Runs []Run    `json:"runs" doc:"those that are new on the page or have changed, in its order"`
	Gone []string `json:"gone" doc:"ids of those that are not on it any more"`
}

// Run returns the record of a run.
func (m *Maker) Run(r *journal.Run) Run {
	rec := Run{ID: r.ID.String(), Key: r.Key, Workflow: r.Workflow, Version: r.Version, Queue: r.Queue, Priority: r.Priority,
		Status: r.Status.String(), Labels: r.Labels, Generation: int32(r.Generation), CreatedAt: r.CreatedAt, StartAt: r.StartAt,
		ClosedAt: Moment(r.ClosedAt)}
	if r.Parent != nil {
		rec.Parent, rec.ParentCmd, rec.ParentGen = r.Parent.Run.String(), int32(r.Parent.Cmd), int32(r.Parent.Generation)
	}
	if r.Timeout > 0 {
		at, _ := r.Freezes.Due(r.StartAt, r.StartAt.Add(r.Timeout))
		rec.DeadlineAt = Moment(at)
	}
	if t := r.Task; t != nil {
		rec.State, rec.Problem, rec.Node, rec.VisibleAt, rec.Waiting = t.State.String(), t.Problem, int32(t.Owner), Moment(t.VisibleAt), r.Waits()
		if r.Freezes.Lasts() { // it was to be looked at when a timer was due
			rec.VisibleAt = nil
		}
	}
	if ev := r.Terminal; ev != nil {
		if f, err := journal.DecodeFailure(ev.Payload); err == nil {
			rec.Problem = m.failure(Source{Run: r.ID, Kind: FromOutcome}, f).Summary()
		}
	}
	if r.Unreadable != nil {
		rec.Problem = r.Unreadable.Error()
	}
	return rec
}

// Word is the status of a run, and the state of an open one that is not ready.
func (r *Run) Word() string {
	if r.State != "" && r.State != journal.Ready.String() {
		return r.State
	}
	return r.Status
}

// About is the most interesting thing about a run.
func (r *Run) About() string {
	if r.Problem != "" {
		return r.Problem
	}
	return strings.Join(r.Waiting, ", ")
}

// Moment is a time of a record, nil for none.
func Moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
