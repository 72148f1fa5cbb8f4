package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// PauseOptions of a pause. The zero value means the defaults.
type PauseOptions struct {
	Reason string // for the audit and for Why; it may be any text
	// CancelSteps interrupts the steps that are executed: their contexts end with actor.ErrPaused,
	// the attempts do not count, and the steps start anew when the run is resumed. Without it they
	// may finish, and their outcomes are stored.
	CancelSteps bool
	// FreezeTimers makes the timers of the run stand still until the resume: what was left of their
	// time at the pause is left then. [Client.Pause] says which, [Client.PauseScope] refuses it.
	FreezeTimers bool
}

// Between two looks at what nodes have not answered yet.
const (
	pauseLookMin = 2 * time.Millisecond
	pauseLookMax = 250 * time.Millisecond
	// pauseLastLook bounds the look by which whoever gives up learns who has not answered.
	pauseLastLook = time.Second
)

// awaitPaused waits until the owner of a run has answered a pause, which has left the task in a
// state.
func (c *Client) awaitPaused(ctx context.Context, run journal.RunID, state journal.TaskState) error {
	err := poll(ctx, func() (bool, error) {
		switch {
		case state == journal.Paused:
			return true, nil
		case !state.OnHold():
			return false, fmt.Errorf("pause run %s: somebody has resumed it before its node could answer", run)
		}
		now, err := stateOf(ctx, c, run)
		if err != nil {
			return false, fmt.Errorf("pause run %s: %w", run, err)
		}
		state = now
		return state == journal.Paused, nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("pause run %s: the pause is asked for, and the run's node has not answered yet: %w", run, err)
	}
	return err
}

// stateOf reads the state of an open run's task, also if the rest of the run cannot be read.
func stateOf(ctx context.Context, c *Client, run journal.RunID) (journal.TaskState, error) {
	h, err := c.j.Load(ctx, []driver.LoadRequest{{Run: run, Answer: driver.StateOnly}})
	if err != nil {
		return 0, err
	}
	_, partly := errors.AsType[*journal.UnreadableError](h[0].Err)
	switch {
	case h[0].Err != nil && !partly:
		return 0, h[0].Err
	case h[0].Run.Task == nil:
		return 0, fmt.Errorf("%w before its node could answer", journal.ErrClosed)
	}
	return h[0].Run.Task.State, nil
}

// poll looks until that is done or fails, or ctx ends, which it returns the cause of. While the
// store is away it goes on: nothing is known then.
func poll(ctx context.Context, look func() (done bool, err error)) error {
	for wait := pauseLookMin; ; wait = min(2*wait, pauseLookMax) {
		done, err := look()
		switch {
		case err == nil && done:
			return nil
		case err != nil && ctx.Err() == nil && !errors.Is(err, journal.ErrUnavailable):
			return err
		case !retry.Sleep(ctx, wait):
			return context.Cause(ctx)
		}
	}
}
