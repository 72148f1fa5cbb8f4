package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Thumbnails works on many pictures, a few at a time, and returns the results in the order of the
// pictures. A picture that fails does not stop the others.
const Thumbnails workflow.Name[[]string, Gallery] = "thumbnails"

// Gallery is the result.
type Gallery struct {
	Small  []string // "" where it failed
	Failed string   // why, one line for each
}

// picturesAtOnce is how many are worked on at a time.
const picturesAtOnce = 3

// shrink makes a picture small.
type shrink func(ctx context.Context, picture string) (string, error)

func (s shrink) thumbnails(ctx workflow.Context, pictures []string) (Gallery, error) {
	small, err := workflow.Map(ctx, pictures, func(ctx workflow.Context, picture string) (string, error) {
		return workflow.Step(ctx, "shrink", func(ctx context.Context) (string, error) { return s(ctx, picture) }, nil)
	}, &workflow.MapOptions{Limit: picturesAtOnce, CollectErrors: true})
	if ctx.Cancelled() {
		return Gallery{}, ctx.Err()
	}
	g := Gallery{Small: small}
	if err != nil {
		g.Failed = err.Error()
	}
	return g, nil
}
