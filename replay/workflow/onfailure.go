package workflow

import (
	"errors"

	"github.com/reprise-run/reprise/replay"
)

// FailedRun is the input of a workflow that is started because a run has failed: see
// runtime.StartOptions.OnFailure. The input of the run that failed is not in it, as it may be
// large; a step can ask a client for the run.
type FailedRun = replay.FailedRun

// OnFailure says what a workflow does when it is about to fail with err, after its function and the
// interceptors around that have returned: nodes do this with runtime.HandleOptions.OnFailure. fn is
// workflow code with a Context that is not cancelled, also if the run was or if its time is up. The
// run fails with err when fn has returned; an error of fn is joined to it, whatever that is, also
// one of [ContinueAsNew]. A request to cancel the run that comes meanwhile changes nothing. A nil
// fn does nothing.
//
// fn is not called for a run that completes, is cancelled or terminated, continues as new, or is
// blocked. What it asks for is in the history, so to add one, or to change what it does, is a
// change of the workflow: runs that have failed before do not fit it any more, and cannot be
// queried.
func OnFailure(def *replay.Definition, fn func(ctx Context, err error) error) {
	if fn == nil {
		return
	}
	def.OnFailure = func(sc *replay.Scope, err error) error {
		if failed := fn(Context{scope: sc}, err); failed != nil {
			return errors.Join(err, failed)
		}
		return err
	}
}
