package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Periodic does a job at each full interval until it is cancelled. Each turn is a generation of its
// own, so the history stays short, and gets the result of the last turn that succeeded.
const Periodic workflow.Name[Period, Period] = "periodic"

// Period says how often, and has what happened so far.
type Period struct {
	Every  time.Duration
	Last   string // the result of the last turn that went well
	Done   int
	Failed int
}

// job is one turn's work.
type job func(ctx context.Context, at time.Time, last string) (string, error)

func (j job) periodic(ctx workflow.Context, p Period) (Period, error) {
	now := ctx.Now()
	if err := workflow.Sleep(ctx, now.Truncate(p.Every).Add(p.Every).Sub(now)); err != nil {
		return p, err
	}
	at := ctx.Now()
	result, err := workflow.Step(ctx, "job", func(ctx context.Context) (string, error) { return j(ctx, at, p.Last) },
		&workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 2}})
	switch {
	case ctx.Cancelled():
		return p, ctx.Err()
	case err != nil: // a turn that fails does not end the rest
		p.Failed++
	default:
		p.Last, p.Done = result, p.Done+1
	}
	return p, workflow.ContinueAsNew(ctx, Periodic, p, nil)
}
