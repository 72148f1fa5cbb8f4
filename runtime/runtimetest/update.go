package runtimetest

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Update calls an update of a run and waits for its answer, by the bubble's clock. It fails the
// test if Env.Patience has passed. Errors are those of runtime.CallUpdate. o may be nil.
func Update[In, Out any](e *Env, run journal.RunID, u workflow.Update[In, Out], in In, o *runtime.UpdateOptions) (Out, error) {
	e.Helper()
	return await(e, run, func(ctx context.Context) (Out, error) { return runtime.CallUpdate(ctx, e.Client(), run, u, in, o) })
}

// SendUpdate is Update without waiting for the answer: the update is durable when it returns. It
// fails the test if the update is refused, because the run is closed or does not exist. o may be
// nil.
func SendUpdate[In, Out any](e *Env, run journal.RunID, u workflow.Update[In, Out], in In, o *runtime.UpdateOptions) *UpdateHandle[Out] {
	e.Helper()
	h, err := runtime.SendUpdate(e.ctx, e.Client(), run, u, in, o)
	if err != nil {
		e.Fatal(err)
	}
	return &UpdateHandle[Out]{UpdateHandle: h, e: e}
}

// UpdateWithStart sends an update to the run that has so.Key, which it starts if there is none. It
// does not wait for the answer, and fails the test if that is refused. o may be nil.
func UpdateWithStart[In, Out, Arg, Res any](e *Env, name workflow.Name[In, Out], in In, u workflow.Update[Arg, Res], arg Arg, so *runtime.StartOptions, o *runtime.UpdateOptions) (*Run[Out], *UpdateHandle[Res]) {
	e.Helper()
	run, h, err := runtime.UpdateWithStart(e.ctx, e.Client(), name, in, u, arg, so, o)
	if err != nil {
		e.Fatal(err)
	}
	return &Run[Out]{Run: run, e: e}, &UpdateHandle[Res]{UpdateHandle: h, e: e}
}

// UpdateHandle stands for an update that was sent.
type UpdateHandle[Out any] struct {
	*runtime.UpdateHandle[Out]
	e *Env
}

// Result waits for the answer, by the bubble's clock. It fails the test if a run is blocked or
// Env.Patience has passed. Errors are those of runtime.CallUpdate. It may be called again.
func (h *UpdateHandle[Out]) Result() (Out, error) {
	h.e.Helper()
	return await(h.e, h.Run(), h.UpdateHandle.Result)
}
