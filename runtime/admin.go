package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/once"
)

// What operators do to a run, each with a row in the audit: see [Client.Audit].

// Pause keeps an open run from starting steps until somebody resumes it, with [Client.Resume]. When
// it returns nil, no step of the run starts any more, neither a new one nor a retry (J11). A run
// that no node owns is paused at once, whether any node has its code or not. The node that owns a
// run is asked to, and Pause waits for its answer, which takes milliseconds; it waits longer only
// for a node that is slow, or gone and not yet replaced. If ctx ends first, the pause is asked for
// all the same, and Describe, Why and List show the run as pausing until the node has answered.
//
// Steps that are executed at that moment end in their own time, and what they return is stored, so
// a run that has just been paused may still be owned, and its code may still run once for each of
// them. Everything else waits for the resume: messages, updates and a request to cancel stay in the
// inbox; timers and the run's own time elapse, and what is due by then happens at the resume; the
// children of the run go on. [Client.Terminate] ends a paused run.
//
// With o.FreezeTimers timers do not elapse: after the resume each has the rest of its time that it
// had at the pause, by the clock of the store. It holds for all that the code waits for by time,
// such as sleeps, named timers and the deadlines of workflow.WithTimeout, for the run's own time,
// and for the Timeout of its steps. Not put off are: what was due at the pause, which comes at the
// resume; an attempt of a step that is executed, and the time until the next one; timers that the
// code arms later. A timer that the code arms while the run is paused, because a step has ended,
// has its whole time at the resume. Several freezes add up, also over generations of the run, a
// retry, a reset and a fork. A run has at most journal.FreezesMax of them. If somebody resumes the
// run before its node has answered, its timers have not stood still.
//
// A run that waits for limits is passed over in their lines, and has its place there again when it
// is resumed.
//
// A pause of a run that is paused changes nothing, unless it has CancelSteps and steps are still
// executed, or FreezeTimers and the timers go on: then they stand still from now on. o may be nil.
// Errors: journal.ErrNotFound; journal.ErrClosed, also if the run has ended before its owner could
// answer; a *journal.LimitError; ctx's.
func (c *Client) Pause(ctx context.Context, run journal.RunID, o *PauseOptions) error {
	if o == nil {
		o = &PauseOptions{}
	}
	a := driver.AdminAction{Kind: driver.AdminPause, Reason: o.Reason, FreezeTimers: o.FreezeTimers}
	if o.CancelSteps {
		a.Kind = driver.AdminInterrupt
	}
	return c.admin(ctx, Call{Kind: PauseCall, Run: run, Payload: o.Reason}, a)
}

// Terminate closes an open run at once, without running its code: nothing is compensated. The
// contexts of its steps end when their node hears of it, at once as a rule and within two leases if
// hints are lost, with the cause "run was terminated or deleted", and their results are discarded.
// A body that ignores its context may go on beside a new run of the same key. The run's children
// follow their close policies. reason may be any text, as in [Client.Cancel]. Errors:
// journal.ErrNotFound, journal.ErrClosed, ctx's.
func (c *Client) Terminate(ctx context.Context, run journal.RunID, reason string) error {
	return c.admin(ctx, Call{Kind: TerminateCall, Run: run, Payload: reason}, driver.AdminAction{Kind: driver.AdminTerminate, Reason: reason})
}

// Resume makes a paused, blocked, quarantined or parked run go on now: after its code was repaired,
// for instance. It ends a pause also if the run's node has not answered it yet. Errors:
// journal.ErrNotFound, journal.ErrClosed, ctx's.
func (c *Client) Resume(ctx context.Context, run journal.RunID) error {
	return c.admin(ctx, Call{Kind: ResumeCall, Run: run}, driver.AdminAction{Kind: driver.AdminResume})
}

// Delete removes a closed run from the store, with its history, inbox and key. It cannot be undone.
// Errors: journal.ErrNotFound, journal.ErrOpen, ctx's.
func (c *Client) Delete(ctx context.Context, run journal.RunID) error {
	return c.admin(ctx, Call{Kind: DeleteCall, Run: run}, driver.AdminAction{Kind: driver.AdminDelete})
}

// admin acts on the run of a call.
func (c *Client) admin(ctx context.Context, call Call, action driver.AdminAction) error {
	action.Run = call.Run
	_, err := intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		action.Actor, action.Reason, action.Once = c.Actor(ctx), reasonOf(ctx, action.Reason), once.InStore(ctx)
		out, err := c.j.Admin(ctx, action)
		if err == nil && call.Kind == PauseCall && !out.Acted {
			err = c.awaitPaused(ctx, call.Run, out.State)
		}
		return none, err
	})
	return err
}
