package flows

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

// ErrNoShape matches the error of [Shape], [Newest] and [State] for a shape that is not in the
// store, because nobody has kept it.
var ErrNoShape = errors.New("the shape of the flow is not stored")

// Shape returns the shape with a hash. Errors: [ErrNoShape]; those of the store; ctx's.
func Shape(ctx context.Context, c *runtime.Client, hash string) (*flow.Shape, error) {
	run, err := c.FindKey(ctx, KeyPrefix+hash)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("shape %s: %w", hash, ErrNoShape)
	}
	if err != nil {
		return nil, fmt.Errorf("shape %s: %w", hash, err)
	}
	return kept(ctx, c, run)
}

// kept reads the shape of a run that keeps one, whether a node has completed it or not.
func kept(ctx context.Context, c *runtime.Client, run journal.RunID) (*flow.Shape, error) {
	s, err := runtime.Input[flow.Shape](ctx, c, run)
	if err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	return &s, nil
}

// Newest returns the shape of a flow that was stored last. Errors: as those of Shape.
func Newest(ctx context.Context, c *runtime.Client, name string) (*flow.Shape, error) {
	page, err := c.List(ctx, journal.ListFilter{Workflow: WorkflowPrefix + name, KeyPrefix: KeyPrefix, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("shapes of flow %s: %w", name, err)
	}
	if len(page.Runs) == 0 {
		return nil, fmt.Errorf("flow %s: %w", name, ErrNoShape)
	}
	return kept(ctx, c, page.Runs[0].ID)
}

// State tells where the nodes of a run stand. shape is what the program has of the flow, or nil:
// the shape that the run began with is taken if it is in the store, and else shape. It reads the
// run's history, whatever its length, needs no node, and writes nothing.
//
// Errors: [ErrNoShape] if there is neither; journal.ErrNotFound; those of the store; ctx's.
func State(ctx context.Context, c *runtime.Client, run journal.RunID, shape *flow.Shape) (*flow.State, error) {
	events, err := c.History(ctx, run)
	if err != nil {
		return nil, err
	}
	hash, known := flow.ShapeOf(events)
	switch {
	case known && (shape == nil || shape.Hash() != hash):
		began, err := Shape(ctx, c, hash)
		if err == nil {
			shape = began
		} else if !errors.Is(err, ErrNoShape) || shape == nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
	case shape == nil: // no node has ended: only the flow's name is known
		if shape, err = ofRun(ctx, c, run); err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
	}
	return shape.State(events), nil
}

// ofRun is the newest shape of the flow that a run is of.
func ofRun(ctx context.Context, c *runtime.Client, run journal.RunID) (*flow.Shape, error) {
	page, err := c.List(ctx, journal.ListFilter{IDs: []journal.RunID{run}})
	if err != nil {
		return nil, err
	}
	if len(page.Runs) == 0 {
		return nil, journal.ErrNotFound
	}
	return Newest(ctx, c, page.Runs[0].Workflow)
}
