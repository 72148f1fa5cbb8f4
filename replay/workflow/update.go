package workflow

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Update is the durable name of a call into a run, with the types of its argument and its result.
// It is a constant that the workflow's code and the callers share.
type Update[In, Out any] string

// UpdateOptions says how updates are accepted. Nil means the defaults.
type UpdateOptions[In any] struct {
	// Validate may refuse an update before anything is stored: the caller gets the error, and the
	// run's history shows no trace. It reads the variables that it shares with the workflow's
	// code; it must change nothing and must not wait.
	Validate func(In) error
}

// Handle answers the update from now on: each call runs fn in a strand of its own, in ctx's
// scope, and the caller gets what fn returns. Updates that come before their handler is set are
// refused; a handler that the run's first turn sets is in time for all.
//
// When the workflow's function returns, handlers that still run end, and their callers learn that
// the run is closed, or, if it returned [ContinueAsNew], that their update was aborted and may have
// had effects. No later generation takes it up: it would do again what was done. So wait with
// [HandlersFinished] before the function returns. o may be nil. It panics if the name is not valid.
func (u Update[In, Out]) Handle(ctx Context, fn func(Context, In) (Out, error), o *UpdateOptions[In]) {
	e := ctx.env()
	if err := checkName("update", string(u)); err != nil {
		panic(err)
	}
	h := replay.Update{Run: func(p journal.Payload) (journal.Payload, error) {
		var in In
		if err := argument(e, "update", string(u), p, &in); err != nil {
			return journal.Payload{}, err
		}
		out, err := fn(ctx, in)
		if err != nil {
			return journal.Payload{}, err
		}
		return e.Encoder().Encode("result of update "+string(u), out)
	}}
	h.Validate = func(p journal.Payload) error {
		var in In
		if err := argument(e, "update", string(u), p, &in); err != nil {
			return err
		}
		if o != nil && o.Validate != nil {
			return o.Validate(in)
		}
		return nil
	}
	e.HandleUpdate(string(u), h)
}

// HandlersFinished waits until every update has an answer. It is for the workflow's function: a
// handler that waited would wait for itself, or two for each other.
//
// Errors: the scope's, if it is cancelled first; [ErrInHandler] in the handler of an update.
func HandlersFinished(ctx Context) error {
	e, err := ctx.inside()
	if err != nil {
		return err
	}
	if e.Answering() {
		return ErrInHandler
	}
	return ctx.scope.Await(func() bool { return e.UpdatesRunning() == 0 }, e.UpdatesCond())
}
