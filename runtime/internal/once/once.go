// Package once lets an action on a run be carried out once, however many callers try it.
//
// A caller whose node was declared dead may not know that yet, and its successor makes the same
// calls. What retry, reset, skip and edit write is refused if the run has moved since they were
// planned, so it is enough to ask behind each plan whether the other one has acted: either its
// action was seen by the plan, and the answer tells, or the write is refused and the run is planned
// and asked about again. A fork does not move the run. Callers choose one id for it, and a fork
// that exists is not made again (J4).
package once

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// Action is what several callers try on a run.
type Action struct {
	Fork journal.RunID                                              // the id of a fork
	Done func(ctx context.Context, run journal.RunID) (bool, error) // whether one of them has acted
}

type key struct{}

// With returns a context for calls that make up the action.
func With(ctx context.Context, a *Action) context.Context { return context.WithValue(ctx, key{}, a) }

// Of returns the action that calls with a context make up, or nil.
func Of(ctx context.Context) *Action {
	a, _ := ctx.Value(key{}).(*Action)
	return a
}

// Done tells whether the action on the run of a call was carried out already. Calls that make up
// no action never were.
func Done(ctx context.Context, run journal.RunID) (bool, error) {
	if a := Of(ctx); a != nil {
		return a.Done(ctx, run)
	}
	return false, nil
}
