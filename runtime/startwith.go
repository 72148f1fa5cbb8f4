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
	p, err := c.j.Encode("signal payload", payload)
	if err != nil {
		return nil, fmt.Errorf("signal %s: %w", signal, err)
	}
	m := journal.Message{Kind: journal.MessageSignal, Name: string(signal), Payload: p}
	if o != nil {
		if o.Tx != nil {
			return nil, fmt.Errorf("signal %s: %w: set the transaction of a signal with start in StartOptions",
				signal, journal.ErrInvalid)
		}
		m.Key = o.Key
	}
	run, _, err := startWith(ctx, c, name, in, m, so)
	return run, err
}

// UpdateWithStart sends an update to the open run that has the key so.Key, and starts that run
// first if there is none, in one transaction: see [SignalWithStart]. The handle waits for the
// answer. so.Key is required. so.Tx is not allowed, because the answer could not come before the
// transaction commits. o may be nil.
//
// Errors are those of [Start] and [SendUpdate].
func UpdateWithStart[In, Out, Arg, Res any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, update workflow.Update[Arg, Res],
	arg Arg, so *StartOptions, o *UpdateOptions,
) (*Run[Out], *UpdateHandle[Res], error) {
	m, err := updateMessage(c, update, arg, o)
	if err != nil {
		return nil, nil, err
	}
	if so != nil && so.Tx != nil {
		return nil, nil, fmt.Errorf("update %s: %w: no transaction is allowed: its answer would have to wait for the commit",
			update, journal.ErrInvalid)
	}
	run, number, err := startWith(ctx, c, name, in, m, so)
	if err != nil {
		return nil, nil, err
	}
	return run, &UpdateHandle[Res]{c: c, run: run.id, number: number, name: string(update)}, nil
}

// startWith starts a run with a message in the same transaction, and returns the message's place in
// the inbox.
func startWith[In, Out any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, m journal.Message, so *StartOptions,
) (*Run[Out], journal.InboxSeq, error) {
	if so == nil || so.Key == "" {
		return nil, 0, fmt.Errorf("%s %s with start of %s: %w: a key is required", m.Kind, m.Name, name, journal.ErrInvalid)
	}
	keyed(&m)
	started, err := startRun(ctx, c, name, in, &m, so)
	if err != nil {
		return nil, 0, err
	}
	if err := started.Sent.Err; err != nil {
		return nil, 0, fmt.Errorf("%s %s to run %s: %w", m.Kind, m.Name, started.Run, err)
	}
	c.noteSignal(started.Run, routeOf(string(name), so.Version, so.Queue), &m)
	return handleOf(c, name, started), started.Sent.Number, nil
}
