package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// SignalOptions of a signal.
type SignalOptions struct {
	// Key deduplicates for the life of the run: a second signal with it is acknowledged and dropped.
	Key string
	// Tx sends exactly if and when this transaction commits.
	Tx journal.Tx
}

// Signal puts a message into the inbox of an open run. When it returns nil the message is durable and will be seen by the
// workflow, in order, unless the run ends without receiving it. Errors: journal.ErrNotFound, journal.ErrClosed.
func Signal[T any](ctx context.Context, c *Client, run journal.RunID, name workflow.Signal[T], payload T, o *SignalOptions) error {
	p, err := c.j.Encode("signal payload", payload)
	if err != nil {
		return fmt.Errorf("signal %s: %w", name, err)
	}
	if o == nil {
		o = &SignalOptions{}
	}
	m := journal.Message{Run: run, Kind: journal.MessageSignal, Name: string(name), Key: o.Key, Payload: p}
	if _, err := c.send(ctx, m, o.Tx); err != nil {
		return fmt.Errorf("signal %s to run %s: %w", name, run, err)
	}
	return nil
}

// Cancel asks an open run to cancel itself. The workflow sees it at its next await and decides how it ends. Asking twice
// is the same as once. Errors: journal.ErrNotFound, journal.ErrClosed.
func (c *Client) Cancel(ctx context.Context, run journal.RunID, reason string) error {
	f := &journal.Failure{Type: journal.FailureCancelled, Message: reason, Permanent: true}
	m := journal.Message{Run: run, Kind: journal.MessageCancel, Payload: journal.EncodeFailure(f)}
	if _, err := c.send(ctx, m, nil); err != nil {
		return fmt.Errorf("cancel run %s: %w", run, err)
	}
	return nil
}

// Terminate closes an open run at once, without running its code: nothing is compensated. Errors: journal.ErrNotFound,
// journal.ErrClosed.
func (c *Client) Terminate(ctx context.Context, run journal.RunID, reason string) error {
	return c.j.Alter(ctx, journal.Alteration{Run: run, Op: journal.OpTerminate, Reason: reason})
}

// Resume makes a blocked, quarantined or parked run visible to nodes now.
func (c *Client) Resume(ctx context.Context, run journal.RunID) error {
	return c.j.Alter(ctx, journal.Alteration{Run: run, Op: journal.OpResume})
}

// Delete forgets a closed run. Errors: journal.ErrNotFound, journal.ErrOpen.
func (c *Client) Delete(ctx context.Context, run journal.RunID) error {
	return c.j.Alter(ctx, journal.Alteration{Run: run, Op: journal.OpDelete})
}

func (c *Client) send(ctx context.Context, m journal.Message, tx journal.Tx) (journal.Sent, error) {
	if tx != nil {
		out, err := c.j.Send(ctx, tx, []journal.Message{m})
		if err != nil {
			return journal.Sent{}, err
		}
		return out[0], out[0].Err
	}
	keyed(&m)
	answer := make(chan sendAnswer, 1)
	c.sends.SubmitInline(sendCall{ctx: ctx, message: m}, func(a sendAnswer) { answer <- a })
	select {
	case a := <-answer:
		return a.sent, answered(ctx, errors.Join(a.err, a.sent.Err))
	case <-ctx.Done():
		return journal.Sent{}, ctx.Err()
	}
}

// keyed gives a message without a key one of its own, so that it arrives once, however often the call is repeated while the store
// is unavailable.
func keyed(m *journal.Message) {
	if m.Key == "" && m.Kind != journal.MessageCancel {
		m.Key = journal.NewRunID().String()
	}
}

// answered is a caller's error: ctx's if ctx has ended, whatever became of the call then.
func answered(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// writeSends writes a batch of messages.
func (c *Client) writeSends(calls []sendCall) []sendAnswer {
	messages := make([]journal.Message, len(calls))
	for i := range calls {
		messages[i] = calls[i].message
	}
	out := make([]sendAnswer, len(calls))
	sent, err := batch.CallShared(calls, func(c *sendCall) context.Context { return c.ctx },
		func(ctx context.Context) (out []journal.Sent, err error) {
			err = retry.UntilAvailable(ctx, func() (err error) {
				out, err = c.j.Send(ctx, nil, messages)
				return err
			})
			return out, err
		})
	for i := range out {
		if err != nil {
			out[i].err = err
			continue
		}
		out[i].sent = sent[i]
	}
	return out
}
