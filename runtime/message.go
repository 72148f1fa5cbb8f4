package runtime

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/once"
)

// SignalOptions of a signal. The zero value means the defaults.
type SignalOptions struct {
	// Key deduplicates for the life of the run: a second signal with it is acknowledged and
	// dropped. What a key may be: see StartOptions.Key. Empty: each call of Signal sends one
	// signal, however often it is repeated inside.
	Key string
	// Tx sends the signal exactly if and when this transaction commits: postgres.InTx(tx). The call
	// returns before that. It may be the transaction of a step, whose own run may be the receiver.
	Tx journal.Tx
}

// Signal puts a message into the inbox of an open run. When it returns nil the message is durable,
// and the workflow sees it, in the order of the inbox (J5), unless the run ends without receiving
// it. No handler need exist: a signal that nobody receives stays buffered. o may be nil.
//
// Errors: journal.ErrNotFound; journal.ErrClosed; journal.ErrInvalid and a *journal.LimitError for
// what cannot be stored; ctx's, after which the signal may have been sent.
func Signal[T any](
	ctx context.Context, c *Client, run journal.RunID, name workflow.Signal[T], payload T, o *SignalOptions,
) error {
	var value any = payload
	p, err := c.j.Encode("signal payload", value)
	if err != nil {
		return fmt.Errorf("signal %s: %w", name, err)
	}
	if o == nil {
		o = &SignalOptions{}
	}
	m := journal.Message{Run: run, Kind: journal.MessageSignal, Name: string(name), Key: o.Key, Payload: p}
	ctx, end := c.tel.call(ctx, spanSignal, string(name), run, trace.SpanKindProducer)
	call := Call{Kind: SignalCall, Run: run, Name: string(name), Payload: value}
	_, err = intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		sent, err := c.send(ctx, m, o.Tx)
		if err != nil {
			return none, fmt.Errorf("signal %s to run %s: %w", name, run, err)
		}
		c.noteSignal(run, sent.Route, &m)
		return none, nil
	})
	end(err)
	return err
}

// Cancel asks an open run to cancel itself. The workflow sees the request at its next await and
// decides how it ends: it may compensate, or ignore the request. Asking twice is the same as once;
// the first reason counts; it may be any text, and of a very long one the beginning is kept. The
// request survives continue-as-new. Errors: journal.ErrNotFound, journal.ErrClosed, ctx's.
func (c *Client) Cancel(ctx context.Context, run journal.RunID, reason string) error {
	f := &journal.Failure{Type: journal.FailureCancelled, Message: reason, Permanent: true}
	m := journal.Message{Run: run, Kind: journal.MessageCancel, Payload: journal.EncodeFailure(f)}
	if a := once.InStore(ctx); a != nil {
		m.Key = a.CancelKey()
	}
	ctx, end := c.tel.call(ctx, spanCancel, "", run, trace.SpanKindProducer)
	_, err := intercepted(ctx, c, Call{Kind: CancelCall, Run: run, Payload: reason}, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		if _, err = c.send(ctx, m, nil); err != nil {
			err = fmt.Errorf("cancel run %s: %w", run, err)
		}
		return none, err
	})
	end(err)
	return err
}

// send writes one message: in the caller's transaction, else with others.
func (c *Client) send(ctx context.Context, m journal.Message, tx journal.Tx) (journal.Sent, error) {
	if tx != nil {
		out, err := c.j.Send(ctx, tx, []journal.Message{m})
		if err != nil {
			return journal.Sent{}, err
		}
		return out[0], out[0].Err
	}
	keyed(&m)
	sent, err := submit(ctx, c.sends, m)
	return sent, c.callerError(ctx, "send", m.Run, errors.Join(err, sent.Err), c.heldRuns.Held(m.Run))
}

// writeSends writes a batch of messages.
func (c *Client) writeSends(calls []call[journal.Message]) []answer[journal.Sent] {
	messages := inputs(calls)
	run, n := messages[0].Run, len(messages)
	defer c.slow.Watch(func() []any { return []any{logkey.Run, run, "messages", n} })()
	sent, err := callStore(calls, func(ctx context.Context) ([]journal.Sent, error) {
		return c.j.Send(driver.Impatient(ctx), nil, messages)
	})
	c.noteLate(run, n, err)
	for i := range messages {
		c.heldRuns.Note(messages[i].Run, err == nil && errors.Is(sent[i].Err, driver.ErrHeld))
	}
	return answers(len(calls), sent, err)
}

// keyed gives a message without a key one of its own, so that it arrives once, however often the
// call is repeated while the store is unavailable. The journal gives every cancel request the same
// key.
func keyed(m *journal.Message) {
	if m.Key == "" && m.Kind != journal.MessageCancel {
		m.Key = journal.NewRunID().String()
	}
}
