package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/ui/record"
)

func startOperations() []*operation {
	return []*operation{
		{method: http.MethodPost, path: "/runs", verbs: []string{"run start"}, writes: true, body: reflect.TypeFor[startRequest](), answer: reflect.TypeFor[record.Started](),
			summary: "Start a run. The status is 201, or 200 if a run had the key already.", do: startRun},
	}
}

// startRequest is the body of a start.
type startRequest struct {
	Workflow   string            `json:"workflow" doc:"name of the workflow"`
	Input      json.RawMessage   `json:"input,omitempty" doc:"its input; null if it is absent"`
	Key        string            `json:"key,omitempty" doc:"name of the run; a second start with it returns the first run"`
	Reuse      string            `json:"reuse,omitempty" doc:"what to do if a closed run has the key: reject, allow or allow-if-failed; default reject"`
	Version    int32             `json:"version,omitempty" doc:"version of the workflow; default 1"`
	Queue      string            `json:"queue,omitempty" doc:"queue whose nodes execute the run"`
	Priority   int16             `json:"priority,omitempty" doc:"1, the most urgent, to 5; default 3"`
	Labels     map[string]string `json:"labels,omitempty" doc:"labels by their names"`
	Headers    map[string]string `json:"headers,omitempty" doc:"headers by their names, which the run's steps see"`
	Delay      string            `json:"delay,omitempty" doc:"how long the run's code does not begin: 90m, 12h, 3d"`
	RunTimeout string            `json:"run_timeout,omitempty" doc:"how long the run may take; absent for as long as it takes"`
	OnFailure  string            `json:"on_failure,omitempty" doc:"workflow to start if the run fails"`
	Limits     []startLimit      `json:"limits,omitempty" doc:"what the run holds from its first turn until it closes, beside what its workflow and its queue name"`
}

// startLimit is a limit that a run holds.
type startLimit struct {
	Name string `json:"name" doc:"name of the limit"`
	Key  string `json:"key,omitempty" doc:"whose bounds: a tenant, say; absent for the only one"`
	Cost int64  `json:"cost,omitempty" doc:"how much of the rate; default 1"`
}

// anyWorkflow is a workflow whose types the API does not know: its values are JSON, which the codec
// of the journal encodes like any other.
type anyWorkflow = workflow.Name[json.RawMessage, json.RawMessage]

func (b *startRequest) options() (*runtime.StartOptions, error) {
	o := &runtime.StartOptions{Key: b.Key, Version: b.Version, Queue: b.Queue, Priority: b.Priority, Labels: b.Labels, Headers: b.Headers, OnFailure: b.OnFailure}
	for _, l := range b.Limits {
		o.Limits = append(o.Limits, journal.LimitNeed{Name: l.Name, Key: l.Key, Cost: l.Cost})
	}
	if b.Reuse != "" {
		reuse := slices.Index(record.Reuses, b.Reuse)
		if reuse < 0 {
			return nil, refuse(invalidRequest, "field %q is none of %s: %q", "reuse", strings.Join(record.Reuses, ", "), b.Reuse)
		}
		o.Reuse = journal.Reuse(reuse)
	}
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"delay", b.Delay, &o.Delay}, {"run_timeout", b.RunTimeout, &o.Timeout}} {
		if d.text == "" {
			continue
		}
		span, err := record.ParseSpan(d.text)
		if err != nil {
			return nil, refuse(invalidRequest, "field %q is no duration such as 90m, 12h or 3d: %q", d.name, d.text)
		}
		*d.to = span
	}
	return o, nil
}

func startRun(c *call) (any, error) {
	b := c.body.(*startRequest)
	o, err := b.options()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{b.Workflow, b.OnFailure} {
		if err := ordinaryWorkflow(name); err != nil {
			return nil, err
		}
	}
	asked := journal.Run{Key: b.Key, Workflow: b.Workflow, Version: cmp.Or(b.Version, 1), Queue: cmp.Or(b.Queue, journal.DefaultQueue),
		Priority: cmp.Or(b.Priority, journal.PriorityDefault), Labels: b.Labels, Headers: b.Headers}
	if err := c.may(c.op.verb(), &asked); err != nil {
		return nil, err
	}
	run, err := runtime.Start(c.ctx, c.h.client, anyWorkflow(b.Workflow), orNull(b.Input), o)
	if err != nil {
		return nil, err
	}
	if run.Created() {
		c.code = http.StatusCreated
	} else if c.h.o.Allow != nil { // it is somebody's: the actor may know of it or not
		row, err := c.read(run.ID())
		if err != nil {
			return nil, err
		}
		if row == nil || !c.sees(row) {
			return nil, refuse(keyConflict, "key %q belongs to another run", b.Key)
		}
	}
	return &record.Started{Run: run.ID().String(), Created: run.Created()}, nil
}

// errJob refuses to make or change a bulk job by what makes and changes runs: the job names in its
// input and events who acts and what is done, so that anybody could act under another name.
var errJob = howTo(forbidden, "POST bulk starts a job; cancel, terminate, pause and resume end and hold it", "runs of workflow %q are made by POST bulk alone", bulk.Workflow)

// reserved begins the names of the runtime's own workflows and of their messages.
const reserved = "reprise."

// ordinaryWorkflow refuses the workflows that are the runtime's own. Besides jobs these are
// schedules, which start whatever their input and their messages say, so also a job under any name,
// and those that keep the shapes of flows, by which all their runs are drawn.
func ordinaryWorkflow(name string) error {
	if name == bulk.Workflow {
		return errJob
	}
	if strings.HasPrefix(name, reserved) {
		return howTo(forbidden, "the command reprise, and the package that has the workflow, make and change its runs",
			"workflow %q is of the runtime's own", name)
	}
	return nil
}

// ordinary refuses a run that is the runtime's own.
func (c *call) ordinary(run journal.RunID) error {
	row, err := c.mustRead(run)
	if err != nil {
		return err
	}
	return ordinaryWorkflow(row.Workflow)
}

// ordinaryMessage refuses the signals and updates by which schedules are told what to do.
func ordinaryMessage(name string) error {
	if strings.HasPrefix(name, reserved) {
		return howTo(forbidden, "the command reprise, and the package that has the message, send it", "message %q is of the runtime's own", name)
	}
	return nil
}
