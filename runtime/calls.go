package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// call is one caller's part of a batch: a start or a message, and the context for which its caller
// waits.
type call[In any] struct {
	ctx context.Context
	in  In
}

// answer is what a caller gets for a call: the store's answer, or why the batch was not written.
type answer[Out any] struct {
	out Out
	err error
}

// submit adds a call to a batch and waits for the answer or for the end of ctx. In the second case
// the call may still take effect: it is in a batch with others. err is of the whole batch; what is
// wrong with this call alone is in the answer.
func submit[In, Out any](ctx context.Context, b *batch.Batcher[call[In], answer[Out]], in In) (Out, error) {
	answered := make(chan answer[Out], 1) // has room, so that nobody waits for a caller who has gone
	b.SubmitInline(call[In]{ctx, in}, func(a answer[Out]) { answered <- a })
	select {
	case a := <-answered:
		return a.out, a.err
	case <-ctx.Done():
		var none Out
		return none, ctx.Err()
	}
}

// inputs are what a batch's callers hand over.
func inputs[In any](calls []call[In]) []In {
	list := make([]In, len(calls))
	for i := range calls {
		list[i] = calls[i].in
	}
	return list
}

// callStore makes one call of the store for all callers. It is repeated while the store is
// unavailable and any of them still waits, unless it took too long: the Batcher divides it then.
// What the store refuses until somebody mends it, such as a missing right, is the callers' at once.
func callStore[In, Out any](calls []call[In], write func(context.Context) ([]Out, error)) ([]Out, error) {
	return batch.CallShared(calls, func(c *call[In]) context.Context { return c.ctx },
		func(ctx context.Context) (out []Out, err error) {
			err = retry.UntilAnswered(ctx, func() (err error) {
				out, err = write(ctx)
				return err
			})
			return out, err
		})
}

// answers are what the n callers of a batch get.
func answers[Out any](n int, out []Out, err error) []answer[Out] {
	list := make([]answer[Out], n)
	for i := range list {
		if err != nil {
			list[i].err = err
			continue
		}
		list[i].out = out[i]
	}
	return list
}

// tookLong tells whether the store has given a batch up because it took too long.
func tookLong[Out any](a answer[Out]) bool { return errors.Is(a.err, driver.ErrTookLong) }

// noteLate reports the run of a call that takes too long although it is alone in its batch.
func (c *Client) noteLate(run journal.RunID, members int, err error) {
	if late := errors.Is(err, driver.ErrTookLong); members == 1 || !late {
		c.late.Note(run, late)
	}
}

// callerError is the error of one caller: ctx's if ctx has ended, whatever became of the call then,
// and behind it why there was no answer: somebody else holds what the call needs, it takes too
// long, or the store is away. A caller who gave up shall not have to tell a store's error from its
// own.
func (c *Client) callerError(ctx context.Context, verb string, run journal.RunID, err error, held bool) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case held:
		return fmt.Errorf("%w: %w", ctx.Err(), driver.ErrHeld)
	case c.late.Held(run):
		return fmt.Errorf("%w: %w", ctx.Err(), driver.ErrTookLong)
	}
	return c.j.Explain(verb, ctx.Err())
}
