package temporal

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Countdown waits until a time. A signal may change the time meanwhile, to a later or an earlier
// one.
const (
	Countdown workflow.Name[time.Time, time.Time] = "countdown"
	Move      workflow.Signal[time.Time]          = "countdown.move"
)

func countdown(ctx workflow.Context, due time.Time) (time.Time, error) {
	for {
		moved, ok, err := Move.ReceiveTimeout(ctx, due.Sub(ctx.Now()))
		if err != nil || !ok {
			return ctx.Now(), err
		}
		due = moved
	}
}
