package workflow

import (
	"github.com/reprise-run/reprise/replay"
)

// ContinueOptions changes what the next generation runs. Nil and zero fields mean the same as now.
type ContinueOptions struct {
	Version int32 // of the workflow
}

// ContinueError is the error that [ContinueAsNew] makes: no failure. Code that looks at errors of
// workflows, such as an [Interceptor], passes it on.
type ContinueError = replay.ContinueError

// ContinueAsNew makes the error that a workflow's function returns to begin again with in and an
// empty history, as the next generation of the same run: same id, same key, and whoever waits for
// the result waits on.
//
//	return Receipt{}, workflow.ContinueAsNew(ctx, Poll, next, nil)
//
// Signals that were not received come first in the next generation, and so does a cancel request.
// Steps, timers, strands and handlers of updates end with this generation; wait with
// [HandlersFinished], because an update without an answer is aborted (see [Update.Handle]).
// Children go on, but their outcome is no longer delivered.
//
// It returns another error, with which the workflow cannot end, if name is not the run's own
// workflow, or if in cannot be encoded or is too large: the run is blocked then.
func ContinueAsNew[In, Out any](ctx Context, name Name[In, Out], in In, o *ContinueOptions) error {
	e, err := ctx.inside()
	if err != nil {
		return err
	}
	if info := e.Info(); info.Workflow != string(name) {
		return invalid("continue as new: the run is of workflow %q, not %q", info.Workflow, string(name))
	}
	next := &replay.ContinueError{}
	if o != nil {
		if o.Version < 0 {
			return invalid("continue as new: version %d: versions start at 1", o.Version)
		}
		next.Version = o.Version
	}
	next.Input, err = e.Encoder().Encode("input of workflow "+string(name), in)
	if err != nil {
		return err
	}
	return next
}

// ShouldContinue tells whether the history is long, so that a run that never ends should continue
// as new: by default from 4096 events or 4 MiB of payloads on, see the node's options. Once true
// it stays true. It may be asked in a condition of [Await].
func (c Context) ShouldContinue() bool { return c.reader().ShouldContinue() }
