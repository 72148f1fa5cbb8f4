package workflow

import (
	"github.com/reprise-run/reprise/replay"
)

// Future is the outcome of a step that was not waited for. Copies are the same future.
type Future[T any] struct{ f *future[T] }

type future[T any] struct {
	cmd   *replay.Command // nil if the step was refused, for err
	known bool            // value and err are decoded
	value T
	err   error
}

// Get waits for the step and returns what Step would have. It may be called again, in any strand.
// If ctx's scope is cancelled first, it returns the scope's error, unless the step itself was asked to stop:
// then its outcome is waited for.
func (f Future[T]) Get(ctx Context) (T, error) {
	var zero T
	m, err := ctx.inside()
	switch {
	case err != nil:
		return zero, err
	case f.f == nil:
		return zero, ErrOutside
	case f.f.cmd != nil:
		if err := f.f.cmd.Await(ctx.scope); err != nil {
			return zero, err
		}
	}
	return f.f.outcome(m)
}

// Ready tells whether Get would return without waiting.
func (f Future[T]) Ready() bool {
	if f.f == nil {
		return false
	}
	if f.f.cmd == nil {
		return true
	}
	f.f.cmd.Machine().Poll()
	return f.f.cmd.Outcome() != replay.Unresolved
}

func (f *future[T]) outcome(m *replay.Machine) (T, error) {
	if f.cmd != nil && !f.known {
		f.value, f.err = outcome[T](m, f.cmd)
		f.known = true
	}
	return f.value, f.err
}

// await waits for a step and decodes its outcome.
func await[T any](ctx Context, c *replay.Command, err error) (T, error) {
	var zero T
	if err != nil {
		return zero, err
	}
	if err := c.Await(ctx.scope); err != nil {
		return zero, err
	}
	return outcome[T](ctx.scope.Machine(), c)
}

// outcome decodes what a resolved step came to.
func outcome[T any](m *replay.Machine, c *replay.Command) (T, error) {
	var v T
	switch c.Outcome() {
	case replay.Completed:
		decode(m, "output of step", c.Name(), c.Output(), &v)
	case replay.Failed:
		return v, c.Failure()
	default:
		return v, c.Err()
	}
	return v, nil
}
