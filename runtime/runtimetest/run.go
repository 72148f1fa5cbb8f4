package runtimetest

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Run is the handle on a run of the test. Its methods fail the test instead of returning errors
// that a test does not expect.
type Run[Out any] struct {
	*runtime.Run[Out]
	e *Env
}

// Start starts a run. It fails the test if the run cannot be started. o may be nil.
func Start[In, Out any](e *Env, name workflow.Name[In, Out], in In, o *runtime.StartOptions) *Run[Out] {
	e.Helper()
	run, err := runtime.Start(e.ctx, e.Client(), name, in, o)
	if err != nil {
		e.Fatal(err)
	}
	return &Run[Out]{Run: run, e: e}
}

// Result waits until the run has ended, by the bubble's clock. It fails the test if a run is
// blocked or Env.Patience has passed. Errors are those of runtime.Run.
func (r *Run[Out]) Result() (Out, error) {
	r.e.Helper()
	return await(r.e, r.ID(), r.Run.Result)
}

// Must is Result for a run that must be completed.
func (r *Run[Out]) Must() Out {
	r.e.Helper()
	out, err := r.Result()
	if err != nil {
		r.e.Fatal(err)
	}
	return out
}

// doing says what an open run waits for, for the message of a test that lost its patience.
func (e *Env) doing(run journal.RunID) string {
	d, err := e.Client().Describe(e.ctx, run)
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("it waits for %q", d.Waiting)
	switch t := d.Run.Task; {
	case t == nil:
	case t.State.OnHold():
		s = fmt.Sprintf("it is %s, and nobody has resumed it", t.State)
	case t.State != journal.Ready:
		s = fmt.Sprintf("it is %s: %s", t.State, t.Problem)
	case t.Fence == 0:
		s = fmt.Sprintf("no node serves %s", journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version})
	}
	for _, step := range d.Steps {
		s += fmt.Sprintf("; step %s has failed %d times", step.Name, step.Attempts)
		if step.LastError != nil {
			s += ", at last with: " + step.LastError.Message
		}
	}
	for _, t := range d.Timers {
		if t.Due.IsZero() {
			s += fmt.Sprintf("; timer %q stands still, with %s left", t.Name, t.Left)
			continue
		}
		s += fmt.Sprintf("; timer %q is due in %s", t.Name, time.Until(t.Due))
	}
	return s
}
