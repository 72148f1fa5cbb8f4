package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// PauseOptions of a pause. The zero value means the defaults.
type PauseOptions struct {
	Reason string // for the audit and for Why; it may be any text
	// CancelSteps interrupts the steps that are executed: their contexts end with actor.ErrPaused,
	// the attempts do not count, and the steps start anew when the run is resumed. Without it they
	// may finish, and their outcomes are stored.
	CancelSteps bool
}

// Between two looks at a run whose owner has not answered yet.
const (
	pauseLookMin = 2 * time.Millisecond
	pauseLookMax = 250 * time.Millisecond
	// pauseLastLook bounds the look by which whoever gives up learns who has not answered.
	pauseLastLook = time.Second
)

// awaitPaused waits until the owner of a run has answered a pause.
func (c *Client) awaitPaused(ctx context.Context, run journal.RunID, state journal.TaskState) error {
	look := driver.LoadRequest{Run: run, Answer: driver.StateOnly}
	for wait := pauseLookMin; ; wait = min(2*wait, pauseLookMax) {
		switch {
		case state == journal.Paused:
			return nil
		case !state.OnHold():
			return fmt.Errorf("pause run %s: somebody has resumed it before its node could answer", run)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("pause run %s: the pause is asked for, and the run's node has not answered yet: %w", run, context.Cause(ctx))
		case <-timer.C:
		}
		h, err := c.j.Load(ctx, []driver.LoadRequest{look})
		switch {
		case errors.Is(err, journal.ErrUnavailable) || err != nil && ctx.Err() != nil: // it stays pausing as far as anybody knows
			continue
		case err == nil:
			err = h[0].Err
		}
		_, partly := errors.AsType[*journal.UnreadableError](err)
		if (err == nil || partly) && h[0].Run.Task == nil {
			return fmt.Errorf("pause run %s: %w before its node could answer", run, journal.ErrClosed)
		}
		if err != nil && !partly {
			return fmt.Errorf("pause run %s: %w", run, err)
		}
		if h[0].Run.Task != nil {
			state = h[0].Run.Task.State
		}
	}
}
