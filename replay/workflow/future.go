package workflow

import (
	"github.com/reprise-run/reprise/replay"
)

// Future is an outcome that was not waited for: of a step, a child, a signal to another run, or a
// [Promise]. Copies are the same future. The zero Future belongs to nothing: Get returns
// [ErrOutside].
type Future[T any] struct{ f *future[T] }

// future is what all copies of a Future share. The outcome of a command stays encoded until
// somebody asks: much that is awaited is never looked at.
type future[T any] struct {
	source source // how the outcome comes; nil if it was there from the beginning
	known  bool   // value and err are the outcome; a command's is decoded when somebody wants it
	value  T
	err    error
}

// source tells when a future has its outcome. A *replay.Command is one.
type source interface {
	Cond() *replay.Cond
	Resolved() bool
	// Await waits until Resolved is true, or returns why it does not wait any longer.
	Await(*replay.Scope) error
}

// issued is the future of a command, or of one that was refused.
func issued[T any](c *replay.Command, err error) Future[T] {
	if err != nil {
		replay.Unseen(err)
		return Future[T]{&future[T]{known: true, err: err}}
	}
	return Future[T]{&future[T]{source: c}}
}

// Get waits for the outcome and returns it: for a step what Step would have. It may be called
// again, in any strand.
//
// If ctx's scope is cancelled first, Get returns the scope's error. A step or a child that was
// itself asked to stop is waited for all the same, because its outcome tells whether it took
// effect.
func (f Future[T]) Get(ctx Context) (T, error) {
	var zero T
	e, err := ctx.inside()
	switch {
	case err != nil:
		return zero, err
	case f.f == nil:
		return zero, ErrOutside
	case f.f.source != nil:
		if err := f.f.bind(e); err != nil {
			return zero, err
		}
		if err := f.f.source.Await(ctx.scope); err != nil {
			return zero, err
		}
	}
	return f.f.outcome(e)
}

// Ready tells whether Get would return without waiting.
func (f Future[T]) Ready() bool {
	if f.f == nil {
		return false
	}
	switch s := f.f.source.(type) {
	case *replay.Command:
		s.Env().Poll()
	case pending:
		if s.binding.env != nil {
			s.binding.env.Poll()
		}
	}
	return f.f.resolved()
}

func (f *future[T]) resolved() bool { return f.source == nil || f.source.Resolved() }

// failed tells whether the outcome is there and is an error.
func (f *future[T]) failed() bool {
	if c, ok := f.source.(*replay.Command); ok {
		return c.Resolved() && c.Outcome() != replay.Completed
	}
	return f.err != nil
}

// bind is called by every verb that waits for a future: a promise learns which run it belongs to.
func (f *future[T]) bind(e *replay.Env) error {
	if p, ok := f.source.(pending); ok {
		return p.binding.bind(e)
	}
	return nil
}

// outcome returns what a resolved future came to.
func (f *future[T]) outcome(e *replay.Env) (T, error) {
	if !f.known {
		f.value, f.err = outcome[T](e, f.source.(*replay.Command))
		f.known = true
	}
	return f.value, f.err
}

// await waits for a command and decodes its outcome.
func await[T any](ctx Context, c *replay.Command, err error) (T, error) {
	var zero T
	if err != nil {
		return zero, err
	}
	if err := c.Await(ctx.scope); err != nil {
		return zero, err
	}
	return outcome[T](ctx.scope.Env(), c)
}

// outcome decodes what a resolved command came to.
func outcome[T any](e *replay.Env, c *replay.Command) (T, error) {
	var v T
	switch c.Outcome() {
	case replay.Completed:
		if err := e.Encoder().Codec().Decode(c.Output(), &v); err != nil {
			e.Abort(&replay.DecodeError{What: "output of " + c.Kind() + " " + c.Name(), Err: err})
		}
	case replay.Failed:
		return v, c.Failure()
	default:
		return v, c.Err()
	}
	return v, nil
}
