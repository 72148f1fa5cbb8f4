package schedule

import (
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Handle registers the workflows of schedules and of their sets with a node, which executes them
// then. As [runtime.Handle] it must be called before the node runs.
func Handle(n *runtime.Node) {
	runtime.Handle(n, name, func(ctx workflow.Context, s state) (Counts, error) { return run(ctx, n.Client(), s) },
		&runtime.HandleOptions{Signals: []string{string(orders)}})
	handleSets(n)
}

func handleSets(n *runtime.Node) {
	runtime.Handle(n, setName, func(ctx workflow.Context, s setState) (none, error) { return none{}, keep(ctx, n.Client(), s) },
		&runtime.HandleOptions{Signals: []string{string(applyTx)}})
}
