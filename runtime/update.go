package runtime

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// UpdateOptions of an update. The zero value means the defaults.
type UpdateOptions struct {
	// Key makes the update idempotent for the life of the run: a second one with it is the same
	// call, and gets the same answer. A rejected update gives its key back, and no other does; a
	// try of it that was given up may still arrive, and has the key then until it is rejected too.
	// Keys of signals are separate. What a key may be: see StartOptions.Key.
	Key string
	// RefusePaused refuses the update with [ErrPaused] if the run is paused, or in a paused queue
	// or workflow, or is being paused, instead of letting it wait for the resume. Nothing is
	// stored then.
	//
	// It is looked at before the update is sent, in reads of their own: a pause that comes at that
	// moment or later lets the update wait, like any other, and so the caller bounds its wait by
	// ctx all the same. What is promised is this: if a pause had returned before the call, and no
	// resume was called, the update is refused. So is one whose Key an earlier call has sent, which
	// stays sent: a call without the option gets its answer.
	//
	// It is the sender's choice and no option of the pause. Whether the update may wait is known to
	// whoever waits for the answer: an agent wants it whenever it comes, a person at a screen does
	// not. Who pauses a run does not know who else sends to it, and an update that a pause refuses
	// would be lost with each sender that has never met that error. And only the calls that choose
	// it pay for the look.
	//
	// [UpdateWithStart] refuses the option, because it may start the run that it sends to.
	RefusePaused bool
}

// CallUpdate sends an update to an open run and waits for its answer. It ends in one of these ways:
//
//   - what the handler returned, or its error as an *[UpdateError];
//   - an error that matches [ErrRejected], with the validator's text: the run has no trace of the
//     update;
//   - an error that matches journal.ErrClosed if the run ends without an answer, and says how it
//     ended: an update that was accepted may have had effects; journal.ErrNotFound if there is no
//     such run;
//   - an error that matches [ErrAborted] if the run continues as new before the handler has
//     answered: the update may have had effects, and is not handled again;
//   - an error that matches [ErrBlocked] if the run cannot continue: the update waits in its inbox
//     until it can;
//   - an error that matches [ErrPaused] if o.RefusePaused and somebody has paused the run: the
//     update was not sent;
//   - ctx's error: the update may have been sent and may still be handled. A call with the same key
//     gets its answer.
//
// An update is accepted once. From then on it is never validated again, and has one outcome, which
// every call with its key gets. One that the run had not accepted when it continued as new is for
// the next generation. o may be nil.
func CallUpdate[In, Out any](
	ctx context.Context, c *Client, run journal.RunID, u workflow.Update[In, Out], in In, o *UpdateOptions,
) (Out, error) {
	ctx, end := c.tel.call(ctx, spanUpdate, string(u), run, trace.SpanKindClient)
	out, err := sendUpdate(ctx, c, run, u, in, o, func(ctx context.Context, h *UpdateHandle[Out]) (Out, error) { return h.Result(ctx) })
	end(err)
	return out, err
}

// SendUpdate is [CallUpdate] without waiting for the answer: when it returns a handle the update is
// durable, and [UpdateHandle.Result] waits. Errors: journal.ErrNotFound, journal.ErrClosed,
// journal.ErrInvalid, [ErrPaused] if o.RefusePaused, ctx's. o may be nil.
func SendUpdate[In, Out any](
	ctx context.Context, c *Client, run journal.RunID, u workflow.Update[In, Out], in In, o *UpdateOptions,
) (*UpdateHandle[Out], error) {
	ctx, end := c.tel.call(ctx, spanUpdate, string(u), run, trace.SpanKindProducer)
	h, err := sendUpdate(ctx, c, run, u, in, o, func(_ context.Context, h *UpdateHandle[Out]) (*UpdateHandle[Out], error) { return h, nil })
	end(err)
	return h, err
}

// sendUpdate sends an update, and does with its handle what the call is to return. Interceptors are
// around both.
func sendUpdate[In, Out, T any](
	ctx context.Context, c *Client, run journal.RunID, u workflow.Update[In, Out], in In, o *UpdateOptions,
	then func(context.Context, *UpdateHandle[Out]) (T, error),
) (T, error) {
	var value any = in
	m, err := updateMessage(c, string(u), value, o)
	if err != nil {
		var none T
		return none, err
	}
	m.Run = run
	call := Call{Kind: UpdateCall, Run: run, Name: string(u), Payload: value}
	return intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (T, error) {
		var sent journal.Sent
		var err error
		if o != nil && o.RefusePaused {
			err = refusePaused(ctx, c, run)
		}
		if err == nil {
			sent, err = c.send(ctx, m, nil)
		}
		if err != nil {
			var none T
			return none, fmt.Errorf("update %s of run %s: %w", u, run, err)
		}
		return then(ctx, &UpdateHandle[Out]{c: c, run: run, number: sent.Number, name: string(u)})
	})
}

func updateMessage(c *Client, name string, arg any, o *UpdateOptions) (journal.Message, error) {
	p, err := c.j.Encode("argument", arg)
	if err != nil {
		return journal.Message{}, fmt.Errorf("update %s: %w", name, err)
	}
	m := journal.Message{Kind: journal.MessageUpdate, Name: name, Payload: p}
	if o != nil {
		m.Key = o.Key
	}
	return m, nil
}

// UpdateHandle stands for an update that was sent. It holds no resources and may be copied and used
// from many goroutines.
type UpdateHandle[Out any] struct {
	c      *Client
	run    journal.RunID
	number journal.InboxSeq
	name   string
}

// Run returns the run that the update was sent to.
func (h *UpdateHandle[Out]) Run() journal.RunID { return h.run }

// Result waits for the answer. Errors are those of [CallUpdate]. It may be called again and gives
// the same answer: answers are stored with the run.
func (h *UpdateHandle[Out]) Result(ctx context.Context) (Out, error) {
	var out Out
	reply, err := h.c.waiters.AwaitReply(ctx, h.run, h.number)
	if err != nil {
		return out, fmt.Errorf("update %s of run %s: %w", h.name, h.run, err)
	}
	if reply.Rejected || reply.Payload.Encoding == journal.EncodingFailure {
		f, err := journal.DecodeFailure(reply.Payload)
		if err != nil {
			return out, fmt.Errorf("update %s of run %s: %w", h.name, h.run, err)
		}
		return out, &UpdateError{Run: h.run, Update: h.name, Failure: f, Rejected: reply.Rejected}
	}
	if err := h.c.j.Codec().Decode(reply.Payload, &out); err != nil {
		return out, fmt.Errorf("update %s of run %s: %w", h.name, h.run, err)
	}
	return out, nil
}
