package workflow

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/replay"
)

// Undo collects the compensations of a saga.
type Undo struct{ list []compensation }

type compensation struct {
	name    string
	tx      bool
	options *StepOptions
	body    func(Context) replay.Body
}

type none = struct{}

// Push adds a compensation: a step that runs if the saga is undone. Push it after the step that
// it undoes, or before, if that step may have an effect although it failed.
func (u *Undo) Push(name string, fn func(context.Context) error, o *StepOptions) {
	body := func(ctx Context) replay.Body {
		return bodyOf(ctx, name, outputless(fn))
	}
	u.list = append(u.list, compensation{name: name, options: o, body: body})
}

// PushTx is Push for a compensation that works in a transaction, as StepTx does.
func PushTx[Tx any](u *Undo, name string, fn func(context.Context, Tx) error, o *StepOptions) {
	body := func(ctx Context) replay.Body {
		if fn == nil {
			return nil
		}
		return txBodyOf(ctx, name, func(ctx context.Context, tx Tx) (none, error) { return none{}, fn(ctx, tx) })
	}
	u.list = append(u.list, compensation{name: name, tx: true, options: o, body: body})
}

// Saga runs fn. If fn returns an error, or the run is cancelled so that it does, Saga runs what
// fn pushed: newest first, one after the other, in a scope that is not cancelled. Each
// compensation is a step with its own options; one that fails for good does not stop the others.
//
// Errors: the one that fn returned, or a [*SagaError] with it if a compensation failed.
// [ContinueAsNew] is no failure: nothing is undone.
func Saga[T any](ctx Context, fn func(Context, *Undo) (T, error)) (T, error) {
	var zero T
	undo := new(Undo)
	v, err := fn(ctx, undo)
	if err == nil {
		return v, nil
	}
	if _, goesOn := errors.AsType[*replay.ContinueError](err); goesOn {
		return v, err
	}
	if _, outside := ctx.inside(); outside != nil {
		return zero, outside
	}
	if failures := undo.run(Shield(ctx)); len(failures) > 0 {
		return zero, &SagaError{Cause: err, Failures: failures}
	}
	return zero, err
}

func (u *Undo) run(ctx Context) (failures []error) {
	for i := len(u.list) - 1; i >= 0; i-- {
		c := u.list[i]
		cmd, err := issueStep(ctx, c.name, c.options, c.body(ctx), c.tx)
		if _, err = await[none](ctx, cmd, err); err != nil {
			failures = append(failures, err)
		}
	}
	return failures
}
