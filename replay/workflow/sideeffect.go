package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// SideEffect returns what fn returns, and on replay what it returned the first time. It is for
// values from outside that are at hand at once, such as a configuration or a number that must be
// secret. fn runs within the turn, in code that may only read: what is slow, can fail or has an
// effect is a [Step]. If the turn's commit fails, fn's value is lost and fn runs again.
//
// The value is kept in the history; all that a turn asks for, values included, is limited to
// journal.IssuedBytesMax. It panics if the name is not valid.
func SideEffect[T any](ctx Context, name string, fn func() T) T {
	e := recorder(ctx, name)
	p := e.Record(name, func() (journal.Payload, error) {
		return e.Encoder().Encode("side effect "+name, fn())
	})
	var v T
	decode(e, "side effect", name, p, &v)
	return v
}

// SideEffectIfChanged is SideEffect for a value that is read often and changes seldom: a value
// that equals the newest one of that name takes a few bytes in the history.
func SideEffectIfChanged[T any](ctx Context, name string, fn func() T, equal func(a, b T) bool) T {
	e := recorder(ctx, name)
	p := e.RecordIf(name, func(last *journal.Payload) (journal.Payload, bool, error) {
		v := fn()
		if last != nil {
			var old T
			if err := e.Encoder().Codec().Decode(*last, &old); err == nil && equal(old, v) {
				return *last, false, nil
			}
		}
		p, err := e.Encoder().Encode("side effect "+name, v)
		return p, true, err
	})
	var v T
	decode(e, "side effect", name, p, &v)
	return v
}

func recorder(ctx Context, name string) *replay.Env {
	e := ctx.env()
	if err := checkName("side effect", name); err != nil {
		panic(err)
	}
	return e
}

// Changed makes a change of a workflow's code safe for runs that are open: it returns true,
// except where a run has already passed this point with code that did not ask. The first answer
// holds for the whole run, so that several places of one change agree; see [ChangeScope] for
// loops.
//
//	if workflow.Changed(ctx, "ask the bank first") {
//		… // new
//	} else {
//		… // old
//	}
//
// When no open run needs the old branch any more (journal.ListFilter.Unchanged lists those that
// may), the branch and the question can be removed; histories that recorded the change still fit.
// One id stands for one change, and must not be used again. It panics if the id is not valid as a
// name, or starts with "~".
func Changed(ctx Context, id string) bool {
	e := ctx.env()
	if err := checkName("change", id); err != nil {
		panic(err)
	}
	if id[0] == '~' {
		panic(fmt.Errorf("change %q: ids that start with ~ are reserved", id))
	}
	if ctx.changes == nil {
		return e.Changed(e.Changes(), id)
	}
	return e.Changed(ctx.changes, id)
}

// ChangeScope returns a Context in which [Changed] decides afresh. Use one for each iteration of
// a loop: a run that is in its hundredth iteration when the code changes takes the new branch
// from the next one on.
func ChangeScope(ctx Context) Context {
	ctx.env()
	return Context{ctx.scope, new(replay.Changes)}
}
