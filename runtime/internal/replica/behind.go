package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// BehindError stands beside the answer of a query that was given from before the end of the run's
// history, because the code does not fit an event of it. Package runtime shows it to the user as
// its own.
type BehindError struct {
	Seq journal.Seq // the last event that the code fits: the answer is as of this one
	Err error       // a *replay.DivergenceError, *replay.PanicError or *replay.DecodeError
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("as of event %d: %v", e.Seq, e.Err)
}

// Unwrap returns why the code does not fit.
func (e *BehindError) Unwrap() error { return e.Err }

// unfitError says at which event of the history the code fails.
type unfitError struct {
	seq journal.Seq
	error
}

func (e *unfitError) Unwrap() error { return e.error }

// unfit names the event at which a replay has failed, if the code is to blame: events before it can
// be replayed then, which those of a history that was changed cannot.
func unfit(seq journal.Seq, err error) error {
	diverged, isDivergence := errors.AsType[*replay.DivergenceError](err)
	_, isPanic := errors.AsType[*replay.PanicError](err)
	_, isDecode := errors.AsType[*replay.DecodeError](err)
	switch {
	case isDivergence:
		return &unfitError{diverged.Seq, err}
	case isPanic, isDecode:
		return &unfitError{seq, err}
	}
	return err
}

// before answers a question as of the event before the one at which the replay has failed with why.
// If that has no answer, the error is why. The machine is not used again: its next question may
// find a history that fits.
func (r *replica) before(ctx context.Context, c *Cache, e *execution, why error, q question) (answer journal.Payload, err error) {
	at, ok := errors.AsType[*unfitError](why)
	if !ok || at.seq <= 1 {
		return answer, why
	}
	if err := r.renew(c, e); err != nil {
		return answer, err
	}
	var d delta
	if err := d.read(ctx, &c.o, r.run); err != nil {
		return answer, err
	}
	if err := r.begin(&c.o, &d.run); err != nil {
		return answer, err
	}
	err = c.execute(e, code{r.workflow, q.name}, func() (err error) {
		for i := range d.events {
			if d.events[i].Seq == at.seq {
				break
			}
			if err := r.machine.Replay(&d.events[i]); err != nil {
				return err
			}
		}
		answer, err = r.machine.Query(q.name, q.arg)
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return journal.Payload{}, fmt.Errorf("%w; as of event %d it has no answer either: %v", why, at.seq-1, err)
	}
	return answer, &BehindError{Seq: at.seq - 1, Err: why}
}
