// Package once lets an action on a run be carried out once, however many callers try it.
//
// A caller whose node was declared dead may not know that yet, and its successor makes the same
// calls. Which of them comes first is decided in the store, see driver.Once, for whatever has a row
// of the audit. Callers choose one id for a fork, so that one that exists is not made again (J4). A
// message has a key, and arrives once (J5): a request to cancel gets one of the action.
package once

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Action is what several callers try on a run.
type Action struct {
	Fork  journal.RunID // the id of a fork
	Mark  string        // begins the reason by which its entry of the audit is known
	After int64         // the number of an older entry
}

type key struct{}

// With returns a context for calls that make up the action.
func With(ctx context.Context, a *Action) context.Context { return context.WithValue(ctx, key{}, a) }

// Of returns the action that calls with a context make up, or nil.
func Of(ctx context.Context) *Action {
	a, _ := ctx.Value(key{}).(*Action)
	return a
}

// InStore is what the store is told of the action that calls with a context make up, nil for none.
func InStore(ctx context.Context) *driver.Once {
	if a := Of(ctx); a != nil {
		return &driver.Once{Mark: a.Mark, After: a.After}
	}
	return nil
}
