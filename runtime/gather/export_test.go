package gather

import (
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// HandleIn is Handle for a kit that replays each history of a collector in the end.
func HandleIn(e *runtimetest.Env) {
	runtimetest.Handle(e, name, func(ctx workflow.Context, s state) (Info, error) { return run(ctx, e.Client(), s) },
		&runtime.HandleOptions{Signals: []string{string(inputs)}})
}
