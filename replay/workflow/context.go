package workflow

import (
	"time"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Context is what workflow code calls verbs with. It stands for a scope of cancellation: see
// Cancellation in the package documentation. It is deliberately not a context.Context, so that
// blocking calls do not compile in workflow code. It may be copied, and used in any strand of its
// run. The zero Context belongs to no run: verbs return [ErrOutside].
type Context struct {
	scope   *replay.Scope
	changes *replay.Changes // of the innermost ChangeScope; nil for the run's
}

// Info is the identity of a run: its id, key, workflow, version, queue, labels, generation and
// parent.
type Info = replay.Info

// Name is the durable name of a workflow, with the types of its input and output. It is a constant
// that the workflow's code and its callers share.
type Name[In, Out any] string

// Define makes a workflow of a function, to be registered with a node or a test. Versions start
// at 1. A node runs a history only with the version that it began with.
func Define[In, Out any](name Name[In, Out], version int32, fn func(Context, In) (Out, error)) *replay.Definition {
	run := func(sc *replay.Scope, input journal.Payload) (journal.Payload, error) {
		e := sc.Env()
		var in In
		decode(e, "input of workflow", string(name), input, &in)
		out, err := fn(Context{scope: sc}, in)
		if err != nil {
			return journal.Payload{}, err
		}
		p, err := e.Encoder().Encode("output of workflow "+string(name), out)
		if err != nil {
			return journal.Payload{}, &replay.EncodeError{Err: err}
		}
		return p, nil
	}
	return &replay.Definition{Name: string(name), Version: version, Run: run}
}

// Now is workflow time, in UTC with microseconds: the time of the event that the code reacts to.
// It does not move between two waits, and never goes back.
func (c Context) Now() time.Time { return c.reader().Now() }

// Info returns the identity of the run.
func (c Context) Info() Info { return c.reader().Info() }

// Err returns why the scope is cancelled: an error that matches [ErrCancelled] or [ErrTimeout],
// or nil.
func (c Context) Err() error {
	c.reader().MarkExternal()
	return c.scope.Err()
}

// Cancelled tells whether the scope is cancelled.
func (c Context) Cancelled() bool { return c.Err() != nil }

// reader returns what the run's code sees, for verbs that only read it.
func (c Context) reader() *replay.Env {
	if c.scope == nil {
		callsite.Refuse(ErrOutside)
	}
	e := c.scope.Env()
	if err := e.Reading(); err != nil {
		callsite.Refuse(err)
	}
	return e
}

// env returns what the run's code sees, for verbs that have no error to return.
func (c Context) env() *replay.Env {
	e, err := c.inside()
	if err != nil {
		callsite.Refuse(err)
	}
	return e
}

// mustBeInside is for verbs that have neither a Context nor an error to return.
func mustBeInside(e *replay.Env) {
	if err := e.Inside(); err != nil {
		callsite.Refuse(err)
	}
}

// inside returns what the run's code sees, or ErrOutside, or ErrReadOnly.
func (c Context) inside() (*replay.Env, error) {
	if c.scope == nil {
		return nil, ErrOutside
	}
	e := c.scope.Env()
	return e, e.Inside()
}

// encoder returns nil for a zero Context, which issueStep refuses.
func (c Context) encoder() replay.Encoder {
	if c.scope == nil {
		return nil
	}
	return c.scope.Env().Encoder()
}

// decode stops the machine when a payload does not fit the code's type: the run is blocked until
// code or a codec that fits is deployed. It does not return then.
func decode(e *replay.Env, what, name string, p journal.Payload, v any) {
	if err := e.Encoder().Codec().Decode(p, v); err != nil {
		e.Abort(&replay.DecodeError{What: what + " " + name, Err: err})
	}
}
