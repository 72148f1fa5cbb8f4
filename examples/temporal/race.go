package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Parking takes the first garage that has a place, cancels the other requests, and sends the driver
// a notice if that takes long.
const Parking workflow.Name[[]string, Place] = "parking"

// Place is where the car stands.
type Place struct {
	Garage string
	Sorry  bool
}

const (
	sorryAfter   = 5 * time.Minute
	noPlaceAfter = time.Hour
)

// garages answer when they have a place.
type garages struct {
	ask   func(ctx context.Context, garage string) error
	sorry func(ctx context.Context, key string) error
}

func (g *garages) parking(ctx workflow.Context, names []string) (p Place, err error) {
	limited, done := workflow.WithTimeout(ctx, noPlaceAfter)
	defer done()
	asking, stop := workflow.WithCancel(limited)
	defer stop()
	var answers []workflow.Future[string]
	for _, name := range names {
		answers = append(answers, workflow.StepAsync(asking, "ask "+name, func(ctx context.Context) (string, error) {
			return name, g.ask(ctx, name)
		}, &workflow.StepOptions{OnCancel: workflow.TryCancel}))
	}
	workflow.Go(asking, func(ctx workflow.Context) {
		if workflow.Sleep(ctx, sorryAfter) == nil { // else a place was found
			p.Sorry = true
			_ = workflow.Do(ctx, "sorry", func(ctx context.Context) error { return g.sorry(ctx, workflow.IdempotencyKey(ctx)) }, nil)
		}
	})
	_, p.Garage, err = workflow.FirstSuccess(limited, answers...)
	return p, err
}
