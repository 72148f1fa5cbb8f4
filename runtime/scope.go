package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// PauseScope keeps all runs of a queue, of a workflow or of one version of it from starting steps
// until somebody calls [Client.ResumeScope] with the same scope, as [Client.Pause] does with one
// run: runs that nodes own and runs that wait, and those that are started or routed there later. It
// is one entry of the store and not a loop over runs. When it returns nil, no step of such a run
// starts any more on any node (J11). It waits for the nodes to say so, which takes milliseconds,
// and longer only for a node that is slow, or gone and not yet replaced. If ctx ends first, the
// pause is asked for all the same, and the error names the nodes that have not answered.
//
// Steps that are executed at that moment end in their own time, unless o.CancelSteps, and what they
// return is stored. Messages, updates and requests to cancel wait; timers and the runs' own time
// elapse. The resume sets all of them going again, as nodes find room. A run may be in several
// paused scopes, and paused itself; it goes on when none of that holds any more.
//
// A pause of a scope that is paused changes nothing, unless it has CancelSteps and the one before
// had not. o may be nil. Errors: journal.ErrInvalid for a scope that names nothing, and for
// FreezeTimers; ctx's. Timers of a scope do not freeze, because runs come to it and go, and a pause
// of it writes nothing to them. Pause the runs themselves for that, with a job of package bulk.
func (c *Client) PauseScope(ctx context.Context, scope journal.Scope, o *PauseOptions) error {
	if o == nil {
		o = &PauseOptions{}
	}
	a := driver.AdminAction{Kind: driver.AdminPause, Reason: o.Reason, FreezeTimers: o.FreezeTimers}
	if o.CancelSteps {
		a.Kind = driver.AdminInterrupt
	}
	return scoped(ctx, c, Call{Kind: PauseCall, Scope: &scope, Payload: o.Reason}, a)
}

// ResumeScope ends the pause of a scope, which must be the very scope that was paused. Runs that
// are paused themselves, or in another paused scope, stay so. It does nothing for a scope that is
// not paused. Errors: journal.ErrInvalid, ctx's.
func (c *Client) ResumeScope(ctx context.Context, scope journal.Scope) error {
	return scoped(ctx, c, Call{Kind: ResumeCall, Scope: &scope}, driver.AdminAction{Kind: driver.AdminResume})
}

// Pauses lists the scopes that are paused, or are being paused while nodes are still to answer.
// Errors: ctx's.
func (c *Client) Pauses(ctx context.Context) ([]journal.Pause, error) { return c.j.Pauses(ctx) }

// scoped acts on the scope of a call.
func scoped(ctx context.Context, c *Client, call Call, action driver.AdminAction) error {
	scope := *call.Scope
	action.Scope = &scope
	_, err := intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		action.Actor, action.Reason = c.Actor(ctx), reasonOf(ctx, action.Reason)
		out, err := c.j.Admin(ctx, action)
		if err == nil && action.Kind != driver.AdminResume {
			err = awaitHeeded(ctx, c, scope, out.Pause)
		}
		return none, err
	})
	return err
}

// awaitHeeded waits until every node heeds a pause.
func awaitHeeded(ctx context.Context, c *Client, scope journal.Scope, number int64) error {
	err := poll(ctx, func() (bool, error) {
		left, there, err := unheeded(ctx, c, scope, number)
		if err == nil && !there {
			err = fmt.Errorf("pause %s: somebody has resumed it before every node could answer", scope)
		}
		return len(left) == 0, err
	})
	if err == nil || ctx.Err() == nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseLastLook)
	defer cancel()
	left, _, _ := unheeded(last, c, scope, number) // none are named if the store does not answer
	return fmt.Errorf("pause %s: the pause is asked for, and nodes %v have not answered yet: %w", scope, left, err)
}

// unheeded returns the nodes that do not heed a pause yet, and whether the pause is there.
func unheeded(ctx context.Context, c *Client, scope journal.Scope, number int64) (left []journal.NodeID, there bool, err error) {
	list, err := c.j.Pauses(ctx)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(list, func(p journal.Pause) bool { return p.Scope == scope && p.Number >= number })
	if i < 0 {
		return nil, false, nil
	}
	return list[i].Unheeded, true, nil
}
