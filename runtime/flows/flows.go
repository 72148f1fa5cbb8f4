package flows

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	// WorkflowPrefix begins the names of the workflows that keep shapes; the flow's name follows.
	WorkflowPrefix = "reprise.flow."
	// KeyPrefix begins the keys of runs that keep shapes; the hash follows.
	KeyPrefix = "flow:"
)

// keeper is the workflow that keeps the shapes of a flow.
func keeper(name string) workflow.Name[flow.Shape, flow.Shape] {
	return workflow.Name[flow.Shape, flow.Shape](WorkflowPrefix + name)
}

// Handle registers a flow with a node, and the workflow that keeps its shapes. It panics as
// runtime.Handle does, and with a *flow.DeclarationError if the flow is wrong. o may be nil.
func Handle[In any](n *runtime.Node, f *flow.Flow[In], o *runtime.HandleOptions) {
	runtime.Handle(n, f.Name(), f.Build(), o)
	kept := runtime.HandleOptions{}
	if o != nil {
		kept.Version, kept.Queue = o.Version, o.Queue
	}
	runtime.Handle(n, keeper(string(f.Name())), keep, &kept)
}

// keep is the workflow that keeps a shape: there is nothing to do.
func keep(_ workflow.Context, s flow.Shape) (flow.Shape, error) { return s, nil }

// Start starts a run of a flow, as runtime.Start does. It refuses an input with which the run could
// not begin before anything is stored, and keeps the flow's shape if this process has not yet. o
// may be nil.
//
// Errors: a *flow.NodeError with a *flow.TypeError if a map over the input finds no list in it; a
// *flow.DeclarationError; those of runtime.Start.
func Start[In any](
	ctx context.Context, c *runtime.Client, f *flow.Flow[In], in In, o *runtime.StartOptions,
) (*runtime.Run[flow.Results], error) {
	if err := f.CheckInput(in); err != nil {
		return nil, fmt.Errorf("start flow %s: %w", f.Name(), err)
	}
	shape := f.Shape()
	if known, hash := hashesOf(c), shape.Hash(); !known.has(hash) {
		if err := Store(ctx, c, shape, o); err != nil {
			return nil, err
		}
		known.add(hash)
	}
	return runtime.Start(ctx, c, f.Name(), in, o)
}

// Store keeps a shape, once for each hash, and returns before a node has completed the run that it
// is in. Of o, which may be nil, it takes the version and the queue, which are those of the flow:
// they say which nodes complete it. Errors: those of runtime.Start.
func Store(ctx context.Context, c *runtime.Client, s *flow.Shape, o *runtime.StartOptions) error {
	so := runtime.StartOptions{Key: KeyPrefix + s.Hash()}
	if o != nil {
		so.Version, so.Queue = o.Version, o.Queue
	}
	if _, err := runtime.Start(ctx, c, keeper(s.Flow), *s, &so); err != nil {
		return fmt.Errorf("store the shape of flow %s: %w", s.Flow, err)
	}
	return nil
}
