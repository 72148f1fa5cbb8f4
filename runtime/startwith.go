package runtime

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// SignalWithStart sends a signal to the open run that has the key so.Key, and starts that run first
// if there is none. Both happen in one transaction, so no signal is lost and no second run is made,
// whoever else does the same at the same time. so.Key is required. If a closed run has the key,
// so.Reuse decides: by default nothing is started or sent, and the error is journal.ErrClosed. With
// so.Tx both happen exactly if and when that transaction commits; o.Tx is not allowed. o may be
// nil.
//
// Errors are those of [Start] and [Signal].
func SignalWithStart[In, Out, T any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, signal workflow.Signal[T], payload T,
	so *StartOptions, o *SignalOptions,
) (*Run[Out], error) {
	var value any = payload
	p, err := c.j.Encode("signal payload", value)
	if err != nil {
		return nil, fmt.Errorf("signal %s: %w", signal, err)
	}
	w := &startMessage{Message: journal.Message{Kind: journal.MessageSignal, Name: string(signal), Payload: p}, value: value}
	if o != nil {
		if o.Tx != nil {
			return nil, fmt.Errorf("signal %s: %w: set the transaction of a signal with start in StartOptions",
				signal, journal.ErrInvalid)
		}
		w.Key = o.Key
	}
	started, err := startRun(ctx, c, name, in, w.keyed(), so)
	if err != nil {
		return nil, err
	}
	return handleOf(c, name, started), nil
}

// UpdateWithStart sends an update to the open run that has the key so.Key, and starts that run
// first if there is none, in one transaction: see [SignalWithStart]. The handle waits for the
// answer. so.Key is required. so.Tx is not allowed, because the answer could not come before the
// transaction commits, and neither is o.RefusePaused. o may be nil.
//
// Errors are those of [Start] and [SendUpdate].
func UpdateWithStart[In, Out, Arg, Res any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, update workflow.Update[Arg, Res],
	arg Arg, so *StartOptions, o *UpdateOptions,
) (*Run[Out], *UpdateHandle[Res], error) {
	if o != nil && o.RefusePaused {
		return nil, nil, fmt.Errorf("update %s: %w: RefusePaused is for runs that are there: look with Client.Why, or send the update alone",
			update, journal.ErrInvalid)
	}
	var value any = arg
	m, err := updateMessage(c, string(update), value, o)
	if err != nil {
		return nil, nil, err
	}
	w := &startMessage{Message: m, value: value}
	started, err := startRun(ctx, c, name, in, w.keyed(), so)
	if err != nil {
		return nil, nil, err
	}
	h := &UpdateHandle[Res]{c: c, run: started.Run, number: started.Sent.Number, name: string(update)}
	return handleOf(c, name, started), h, nil
}
