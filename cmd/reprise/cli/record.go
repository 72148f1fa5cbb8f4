package cli

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// The records are what -o json and -o jsonl print. Their fields and meanings are listed in
// docs/reprise/json.md, which a test writes from the tags and compares. A field keeps its name and
// its meaning; further ones may come. Fields without a value are left out.

// runRecord is a run.
type runRecord struct {
	ID         string            `json:"id" doc:"id of the run"`
	Key        string            `json:"key,omitempty" doc:"the caller's own name for it"`
	Workflow   string            `json:"workflow" doc:"name of the workflow"`
	Version    int32             `json:"version" doc:"version of the workflow"`
	Queue      string            `json:"queue" doc:"queue whose nodes execute it"`
	Priority   int16             `json:"priority" doc:"1, the most urgent, to 5"`
	Status     string            `json:"status" doc:"open, completed, failed, cancelled or terminated"`
	State      string            `json:"state,omitempty" doc:"of an open run: ready, blocked, quarantined, paused, or pausing or interrupting until its node has answered"`
	Problem    string            `json:"problem,omitempty" doc:"why it is blocked, quarantined, failed, cancelled, terminated or unreadable"`
	Labels     map[string]string `json:"labels,omitempty" doc:"its labels, as they are now"`
	Generation int32             `json:"generation" doc:"1, and one more for each continue-as-new"`
	Parent     string            `json:"parent,omitempty" doc:"id of the run that waits for it"`
	Node       int32             `json:"node,omitempty" doc:"number of the node that owns it"`
	CreatedAt  time.Time         `json:"created_at" doc:"when it was started"`
	StartAt    time.Time         `json:"start_at" doc:"when its code may begin"`
	ClosedAt   *time.Time        `json:"closed_at,omitempty" doc:"when it ended"`
	VisibleAt  *time.Time        `json:"visible_at,omitempty" doc:"when somebody looks at it next; absent while a node owns it, only a message wakes it, or its timers stand still"`
	DeadlineAt *time.Time        `json:"deadline_at,omitempty" doc:"when its time is up; absent while that stands still"`
	Waiting    []string          `json:"waiting,omitempty" doc:"what the parked run waits for, in words"`
}

// payloadRecord is a value that was stored.
type payloadRecord struct {
	Value    json.RawMessage `json:"value,omitempty" doc:"the value; absent if the codec of this program does not decode it to JSON"`
	Failure  *failureRecord  `json:"failure,omitempty" doc:"of a value that is an error"`
	Encoding string          `json:"encoding,omitempty" doc:"name of the encoding, if it is not JSON"`
	Bytes    []byte          `json:"bytes,omitempty" doc:"what is stored, in base64, if it could not be decoded"`
}

// failureRecord is an error that was stored.
type failureRecord struct {
	Type      string           `json:"type,omitempty" doc:"Go type of the error, or reprise.Timeout and the like"`
	Message   string           `json:"message" doc:"text of the error"`
	Permanent bool             `json:"permanent,omitempty" doc:"whether it is not tried again"`
	Stack     string           `json:"stack,omitempty" doc:"of a panic"`
	Cause     *failureRecord   `json:"cause,omitempty" doc:"what it wraps"`
	Details   []*failureRecord `json:"details,omitempty" doc:"failed compensations"`
}

// recordOf returns the record of a run.
func recordOf(r *journal.Run) runRecord {
	rec := runRecord{ID: r.ID.String(), Key: r.Key, Workflow: r.Workflow, Version: r.Version, Queue: r.Queue, Priority: r.Priority,
		Status: r.Status.String(), Labels: r.Labels, Generation: int32(r.Generation), CreatedAt: r.CreatedAt, StartAt: r.StartAt,
		ClosedAt: moment(r.ClosedAt)}
	if r.Parent != nil {
		rec.Parent = r.Parent.Run.String()
	}
	if r.Timeout > 0 {
		at, _ := r.Freezes.Due(r.StartAt, r.StartAt.Add(r.Timeout))
		rec.DeadlineAt = moment(at)
	}
	if t := r.Task; t != nil {
		rec.State, rec.Problem, rec.Node, rec.VisibleAt, rec.Waiting = t.State.String(), t.Problem, int32(t.Owner), moment(t.VisibleAt), r.Waits()
		if r.Freezes.Lasts() { // it was to be looked at when a timer was due
			rec.VisibleAt = nil
		}
	}
	if ev := r.Terminal; ev != nil {
		if f, err := journal.DecodeFailure(ev.Payload); err == nil {
			rec.Problem = f.Summary()
		}
	}
	if r.Unreadable != nil {
		rec.Problem = r.Unreadable.Error()
	}
	return rec
}

// word is the status of a run, and the state of an open one that is not ready.
func (r *runRecord) word() string {
	if r.State != "" && r.State != journal.Ready.String() {
		return r.State
	}
	return r.Status
}

// about is the most interesting thing about a run.
func (r *runRecord) about() string {
	if r.Problem != "" {
		return r.Problem
	}
	return strings.Join(r.Waiting, ", ")
}

// moment is a time of a record, nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// payload returns the record of a payload, nil for one without bytes. What the program's codec does
// not decode to JSON is shown as it is stored.
func (c *call) payload(p journal.Payload) *payloadRecord {
	if len(p.Data) == 0 {
		return nil
	}
	rec := &payloadRecord{Encoding: p.Encoding}
	if p.Encoding == journal.EncodingFailure {
		if f, err := journal.DecodeFailure(p); err == nil {
			rec.Failure = failureOf(f)
			return rec
		}
	}
	var value json.RawMessage
	if err := c.journal.Codec().Decode(p, &value); err == nil && json.Valid(value) {
		rec.Value = value
		return rec
	}
	rec.Bytes = p.Data
	return rec
}

// failureOf returns the record of a failure.
func failureOf(f *journal.Failure) *failureRecord {
	if f == nil {
		return nil
	}
	rec := &failureRecord{Type: f.Type, Message: f.Message, Permanent: f.Permanent, Stack: f.Stack, Cause: failureOf(f.Cause)}
	for _, d := range f.Details {
		rec.Details = append(rec.Details, failureOf(d))
	}
	return rec
}

// text is a payload for people, in one line.
func (r *payloadRecord) text(max int) string {
	switch {
	case r == nil:
		return ""
	case r.Failure != nil:
		return oneLine((&journal.Failure{Type: r.Failure.Type, Message: r.Failure.Message}).Summary(), max)
	case r.Value != nil:
		return oneLine(string(r.Value), max)
	}
	return oneLine("encoded as "+r.Encoding, max)
}
