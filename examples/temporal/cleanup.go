package temporal

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Render draws a film until it is done or cancelled. When it is cancelled, it asks its step to
// stop, waits for the step's outcome, and removes the pages in a scope that is not cancelled.
const Render workflow.Name[int, int] = "render"

// renderer draws pages of a film, and removes them.
type renderer struct {
	draw   func(ctx context.Context, page int) error // returns early when ctx ends
	remove func(ctx context.Context, pages int) error
}

func (r *renderer) render(ctx workflow.Context, pages int) (int, error) {
	drawn, err := workflow.Step(ctx, "draw", func(ctx context.Context) (int, error) {
		for page := range pages {
			if r.draw(ctx, page) != nil {
				return page, nil // the outcome of a step that was asked to stop counts
			}
		}
		return pages, nil
	}, nil)
	if err != nil || !ctx.Cancelled() {
		return drawn, err
	}
	err = workflow.Do(workflow.Shield(ctx), "remove", func(ctx context.Context) error { return r.remove(ctx, drawn) }, nil)
	if err != nil {
		return drawn, fmt.Errorf("%w, and pages are left: %w", ctx.Err(), err)
	}
	return drawn, ctx.Err()
}
