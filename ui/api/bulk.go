package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/ui/record"
)

// bulkVerbs are the verbs that a job may have.
var bulkVerbs = []bulk.Verb{bulk.Cancel, bulk.Terminate, bulk.Pause, bulk.Resume, bulk.Signal, bulk.SetLabels, bulk.SetPriority, bulk.Retry, bulk.Reset, bulk.Fork, bulk.Edit, bulk.Skip, bulk.Delete}

// bulkVerb is what Allow is asked about a job.
func bulkVerb(v string) string { return "bulk " + v }

func bulkOperations() []*operation {
	var verbs []string
	for _, v := range bulkVerbs {
		verbs = append(verbs, bulkVerb(string(v)))
	}
	return []*operation{
		{method: http.MethodPost, path: "/bulk", verbs: verbs, writes: true, params: []param{dryRun}, body: reflect.TypeFor[bulkRequest](), answer: reflect.TypeFor[record.Bulk](),
			summary: "Start a job that acts on all runs that a filter selects, or count them with dry_run. A node must serve jobs. The status is 202, or 200 if nothing was started: with a key, because the same job was started before.", do: startBulk},
		{method: http.MethodGet, path: "/bulk/{run}", verbs: []string{"bulk watch"}, summary: "Tell how far a job is, or what it has done.", answer: reflect.TypeFor[record.Bulk](), do: showBulk},
		{method: http.MethodGet, path: "/bulk/{run}/outcomes", verbs: []string{"bulk show"}, summary: "List what a job has done to each of its runs.",
			params: []param{flag("failures", "only runs that failed"), limitParam, cursorParam}, answer: reflect.TypeFor[record.OutcomePage](), do: listOutcomes},
	}
}

// bulkRequest is the body of a bulk job.
type bulkRequest struct {
	Verb         string            `json:"verb" doc:"cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset, fork, edit, skip or delete"`
	Where        string            `json:"where,omitempty" doc:"which runs, see docs/finding-runs.md: workflow = order and status = blocked"`
	All          bool              `json:"all,omitempty" doc:"all runs, instead of where"`
	FailuresOf   string            `json:"failures_of,omitempty" doc:"instead of where: the runs that failed in this job, which has ended: an id, or key=KEY"`
	Reason       string            `json:"reason,omitempty" doc:"why, for the audit and for the runs' histories"`
	Rate         float64           `json:"rate,omitempty" doc:"at most so many runs a second; absent for as many as it can"`
	Concurrency  int               `json:"concurrency,omitempty" doc:"so many runs at once, at most 256; default 32"`
	Key          string            `json:"key,omitempty" doc:"name of the job: the same job with it is told of, with ended_before if it has ended; another one is refused"`
	FreezeTimers bool              `json:"freeze_timers,omitempty" doc:"of pause: timers stand still until the resume, and have then what is left of their time now"`
	CancelSteps  bool              `json:"cancel_steps,omitempty" doc:"of pause: interrupt running steps, which start anew when the run is resumed"`
	Again        bool              `json:"again,omitempty" doc:"of retry: also runs in which other steps have completed since the failure"`
	Signal       string            `json:"signal,omitempty" doc:"of signal: its name"`
	Payload      json.RawMessage   `json:"payload,omitempty" doc:"of signal: what it carries; of edit: the result"`
	Step         string            `json:"step,omitempty" doc:"of edit: name of the step"`
	Message      string            `json:"message,omitempty" doc:"of skip: name of the signal or update"`
	Labels       map[string]string `json:"labels,omitempty" doc:"of set-labels: labels to set, by their names"`
	Remove       []string          `json:"remove,omitempty" doc:"of set-labels: names of labels to remove"`
	Priority     int16             `json:"priority,omitempty" doc:"of set-priority: 1, the most urgent, to 5"`
	Point        string            `json:"point,omitempty" doc:"of reset and fork: event:N, step:NAME, failure, generation, start or fits"`
	Unproven     bool              `json:"unproven,omitempty" doc:"of reset, fork, edit and skip: do not replay what is kept; runs block if their code does not fit"`
	NoMessages   bool              `json:"no_messages,omitempty" doc:"of reset and fork: leave out signals and updates that what is kept has not consumed"`
	Messages     []string          `json:"messages,omitempty" doc:"with no_messages: names of signals and updates that come again all the same"`
	Keep         bool              `json:"keep_children,omitempty" doc:"of reset, edit and skip: do not cancel children whose start is taken back"`
	Input        json.RawMessage   `json:"input,omitempty" doc:"of reset and fork, with generation or start: another input"`
	Version      int32             `json:"workflow_version,omitempty" doc:"of fork, and with generation or start of reset: another version of the workflow"`
	Queue        string            `json:"queue,omitempty" doc:"of fork: another queue"`

	Results map[string]json.RawMessage `json:"results,omitempty" doc:"of fork: other results of steps, by their names: each in place of the first outcome"`
}

func (b *bulkRequest) job() bulk.Job {
	return bulk.Job{Verb: bulk.Verb(b.Verb), Where: b.Where, All: b.All, Reason: b.Reason, Rate: b.Rate, Concurrency: b.Concurrency,
		FreezeTimers: b.FreezeTimers, CancelSteps: b.CancelSteps, Again: b.Again, Signal: b.Signal, Payload: b.Payload, Step: b.Step, Labels: b.Labels, RemoveLabels: b.Remove, Priority: b.Priority,
		To: runtime.Point(b.Point), Unproven: b.Unproven, NoMessages: b.NoMessages, Messages: b.Messages, KeepChildren: b.Keep, Version: b.Version, Queue: b.Queue,
		Message: b.Message, Input: b.Input, Results: b.Results}
}

// startBulk counts what a job would act on, and starts it. The job acts on every run that it
// selects: who may start it may do so to all of them, and count them.
func startBulk(c *call) (any, error) {
	b := c.body.(*bulkRequest)
	if err := c.may(bulkVerb(b.Verb), nil); err != nil {
		return nil, err
	}
	if err := ordinaryMessage(b.Signal); err != nil {
		return nil, err
	}
	job := b.job()
	if b.FailuresOf != "" { // who may not see that job learns nothing of it
		row, err := c.rowOf(b.FailuresOf)
		if err != nil {
			return nil, err
		}
		job.FailuresOf = row.ID
	}
	found, err := bulk.ByKey(c.ctx, c.h.client, job, b.Key)
	if err != nil {
		return nil, keyRefused(c, b.Key, err)
	}
	if found != nil {
		return keyed(c, found.ID, b.Key)
	}
	rec := record.Bulk{Verb: b.Verb}
	if rec.Runs, rec.Capped, err = bulk.Count(c.ctx, c.h.client, job); err != nil {
		return nil, err
	}
	if c.flag(dryRun.name) && rec.Runs > 0 {
		return previewJob(c, job, &rec)
	}
	if c.flag(dryRun.name) || rec.Runs == 0 && b.Key == "" {
		return &rec, nil
	}
	started, err := bulk.Start(c.ctx, c.h.client, job, &bulk.Options{Key: b.Key})
	if err != nil {
		return nil, keyRefused(c, b.Key, err)
	}
	if !started.Created() {
		return keyed(c, started.ID(), b.Key)
	}
	c.code = http.StatusAccepted
	rec.Run, rec.Status = started.ID().String(), journal.Open.String()
	return &rec, nil
}

// previewJob adds what would become of the first runs, but for those that the actor may not see.
func previewJob(c *call, job bulk.Job, rec *record.Bulk) (any, error) {
	list, err := bulk.Preview(c.ctx, c.h.client, c.h.o.Node, job)
	if err != nil {
		return nil, err
	}
	if c.h.o.Allow != nil {
		var ids []journal.RunID
		for i := range list {
			ids = append(ids, list[i].Run)
		}
		seen, err := c.seen(ids)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(w bulk.Would) bool { return !seen[w.Run] })
	}
	c.maker.Preview(rec, list)
	return rec, nil
}

// keyed tells of the same job, which was started before.
func keyed(c *call, job journal.RunID, key string) (any, error) {
	if _, err := c.rowOf(job.String()); err != nil {
		return nil, keyRefused(c, key, &journal.KeyConflictError{Key: key, Run: job})
	}
	rec, err := c.progress(job)
	if err != nil {
		return nil, err
	}
	rec.EndedBefore = rec.Status != journal.Open.String()
	return rec, nil
}

// keyRefused is the error of a key that something else has. Who may not see that does not hear what
// it is.
func keyRefused(c *call, key string, err error) error {
	if has, ok := errors.AsType[*journal.KeyConflictError](err); ok {
		if _, unseen := c.rowOf(has.Run.String()); unseen != nil {
			return refuse(keyConflict, "key %q belongs to another job", key)
		}
	}
	return err
}

func showBulk(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.progress(run)
}

// jobOf refuses a run that is no job.
func jobOf(c *call, run journal.RunID) (*journal.Run, error) {
	row, err := c.mustRead(run)
	if err == nil && row.Workflow != bulk.Workflow {
		err = howTo(notFound, "GET runs/ID shows it", "run %s is no job of bulk", run)
	}
	return row, err
}

// listOutcomes is a page of what came of runs. Those that the actor may not see are left out of it.
func listOutcomes(c *call) (any, error) {
	f := bulk.OutcomeFilter{Failures: c.flag("failures"), Cursor: c.text("cursor"), Limit: c.limit()}
	if c.wrong != nil {
		return nil, c.wrong
	}
	job, err := c.run()
	if err == nil {
		_, err = jobOf(c, job)
	}
	if err != nil {
		return nil, err
	}
	list, err := bulk.Outcomes(c.ctx, c.h.client, job, &f)
	if err != nil {
		return nil, err
	}
	var ids []journal.RunID
	for i := range list.Outcomes {
		ids = append(ids, list.Outcomes[i].Run)
	}
	sees := func(journal.RunID) bool { return true }
	if c.h.o.Allow != nil {
		seen, err := c.seen(ids)
		if err != nil {
			return nil, err
		}
		sees = func(run journal.RunID) bool { return seen[run] }
	}
	page := record.OutcomePage{Outcomes: []record.Outcome{}, Next: list.Next}
	for i := range list.Outcomes {
		if o := &list.Outcomes[i]; sees(o.Run) {
			page.Outcomes = append(page.Outcomes, record.OutcomeOf(o))
		}
	}
	return &page, nil
}

// progress is how far a job is. Runs that the actor may not see are counted, since the job acts on
// them, and not named.
func (c *call) progress(job journal.RunID) (*record.Bulk, error) {
	row, err := jobOf(c, job)
	if err != nil {
		return nil, err
	}
	p, err := bulk.ProgressOf(c.ctx, c.h.client, job)
	if err != nil && !errors.Is(err, runtime.ErrNotPublished) { // no node has begun with it
		return nil, err
	}
	rec := record.BulkOf(p)
	rec.Run, rec.Status = job.String(), row.Status.String()
	if c.h.o.Allow == nil || len(p.Failures) == 0 {
		return &rec, nil
	}
	var ids []journal.RunID
	for _, f := range p.Failures {
		ids = append(ids, f.Run)
	}
	seen, err := c.seen(ids)
	if err != nil {
		return nil, err
	}
	rec.Failures = nil
	for _, f := range p.Failures {
		if seen[f.Run] {
			rec.Failures = append(rec.Failures, record.BulkFailure{Run: f.Run.String(), Error: f.Error})
		}
	}
	return &rec, nil
}
