package runtimetest

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Signal sends a signal to a run, and fails the test if that is refused. It may be called from
// After. o may be nil.
func Signal[T any](e *Env, run journal.RunID, name workflow.Signal[T], payload T, o *runtime.SignalOptions) {
	e.Helper()
	if err := runtime.Signal(e.ctx, e.Client(), run, name, payload, o); err != nil {
		e.Error(err)
	}
}

// SignalWithStart sends a signal to the run that has so.Key, which it starts if there is none. It
// fails the test if that is refused. o may be nil.
func SignalWithStart[In, Out, T any](e *Env, name workflow.Name[In, Out], in In, signal workflow.Signal[T], payload T, so *runtime.StartOptions, o *runtime.SignalOptions) *Run[Out] {
	e.Helper()
	run, err := runtime.SignalWithStart(e.ctx, e.Client(), name, in, signal, payload, so, o)
	if err != nil {
		e.Fatal(err)
	}
	return &Run[Out]{Run: run, e: e}
}

// Query asks a run with the code of the node, and fails the test if there is no answer. If the node
// crashes meanwhile, the next one is asked.
func Query[Arg, Res any](e *Env, run journal.RunID, q workflow.Query[Arg, Res], arg Arg) Res {
	e.Helper()
	for {
		p := e.living()
		res, err := runtime.Query(e.ctx, p.node, run, q, arg)
		switch {
		case err == nil:
			return res
		case !p.dead.Load():
			e.Fatal(err)
		}
	}
}

// CurrentNode returns the node that works now, for runtime.Query. Crash and Restart put another one
// in its place.
func (e *Env) CurrentNode() *runtime.Node { return e.living().node }

// living waits until the process in place is not one that has crashed.
func (e *Env) living() *process {
	for {
		p := e.current()
		if !p.dead.Load() {
			return p
		}
		<-p.ended
		e.swap <- struct{}{} // whoever replaces it holds this
		<-e.swap
	}
}

// await calls wait with a context that ends after Env.Patience, or when the test cannot continue.
func await[T any](e *Env, run journal.RunID, wait func(context.Context) (T, error)) (T, error) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.ctx, e.Patience)
	defer cancel()
	out, err := wait(ctx)
	e.patient(ctx, run, err)
	return out, err
}

// patient fails the test if a wait for a run took longer than Env.Patience, or ended because the
// test cannot continue.
func (e *Env) patient(ctx context.Context, run journal.RunID, err error) {
	e.Helper()
	switch {
	case err == nil || ctx.Err() == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Fatalf("run %s has not ended after %s: %s", run, e.Patience, e.doing(run))
	default:
		e.FailNow() // stop has told why
	}
}

// Cancel asks a run to cancel itself, and fails the test if that is refused. It may be called from
// After.
func (e *Env) Cancel(run journal.RunID, reason string) {
	e.Helper()
	if err := e.Client().Cancel(e.ctx, run, reason); err != nil {
		e.Error(err)
	}
}
