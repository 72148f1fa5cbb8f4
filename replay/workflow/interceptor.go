package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/intercept"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Interceptor is code around the functions of workflows: it calls next, which runs the function,
// and sees how that ends. It may pass on a Context that is narrower than its own, such as one of
// [WithTimeout]. A node has interceptors for all workflows that are registered with it, see package
// runtime; [Intercept] puts them around one.
//
//	func notice(ctx workflow.Context, next func(workflow.Context) error) error {
//		err := next(ctx)
//		if err != nil && !errors.Is(err, workflow.ErrCancelled) {
//			… // a step that tells somebody, in a Shield
//		}
//		return err
//	}
//
// It is workflow code. It runs in every generation and in every replay, must be deterministic, and
// may call every verb; what it asks for is in the history. So an interceptor that is new, or asks
// for something else than before, is a change of every workflow that it is around: see [Changed].
// It is not around handlers of queries and updates.
//
// An error that it returns is the workflow's, also without calling next. One of next it returns as
// it is, wrapped, or replaced by another one; an error of [ContinueAsNew] makes the run continue
// only as long as errors.As finds it. Nil means that the workflow's output counts, which there is
// only if next returned nil. These are mistakes, which block the run until better code is deployed,
// and fail it never: nil without calling next; nil although next had failed; next called twice, in
// another strand, or with a Context of a [ChangeScope]. In a goroutine, or with another run's
// Context, next returns [ErrOutside] and does nothing.
//
// Errors for which the run waits for better code, such as an output that cannot be encoded, block
// it before next returns, and panics go through interceptors as through any function.
type Interceptor func(ctx Context, next func(Context) error) error

// Intercept returns a copy of a workflow with interceptors around its function, the first one
// outermost; nil ones are skipped. Nodes do this themselves with what NodeOptions.Interceptors of
// package runtime has: it is for tests with package replaytest, and for other programs that replay
// histories.
func Intercept(def *replay.Definition, list ...Interceptor) *replay.Definition {
	c, run := *def, def.Run
	chain := intercept.Chain[Context]{What: "workflow interceptor", Own: "strand", Wrong: journal.ErrInvalid}
	for _, i := range list {
		if i != nil {
			chain.Layers = append(chain.Layers, i.layer())
		}
	}
	if len(chain.Layers) == 0 {
		return &c
	}
	c.Run = func(sc *replay.Scope, input journal.Payload) (journal.Payload, error) {
		var out journal.Payload
		err := chain.Do(Context{scope: sc}, func(ctx Context) (err error) {
			out, err = run(ctx.scope, input)
			return err
		})
		if err != nil {
			return journal.Payload{}, err
		}
		return out, nil
	}
	return &c
}

// layer is the interceptor as a part of a chain.
func (i Interceptor) layer() intercept.Layer[Context] {
	name := callsite.OfFunc(i)
	return intercept.Layer[Context]{Name: name, Call: func(ctx Context, next func(Context) error) error {
		return i(ctx, i.next(name, next))
	}}
}

// next returns what the interceptor gets as next: only code of the run may call it, and the machine
// stops before the interceptor can react to what only wrong code returns. It is not inlined because
// errors show its name as that of the verb.
//
//go:noinline
func (i Interceptor) next(name string, next func(Context) error) func(Context) error {
	return func(ctx Context) error {
		e, err := ctx.inside()
		switch {
		case err != nil: // perhaps on a foreign goroutine, which must touch nothing, or of another run
			return err
		case ctx.changes != nil:
			err = fmt.Errorf("workflow interceptor %s: %w: it called next with a Context of a ChangeScope, which cannot be passed on",
				name, journal.ErrInvalid)
		default:
			err = next(ctx)
		}
		e.StopIfWrong(err)
		return err
	}
}
