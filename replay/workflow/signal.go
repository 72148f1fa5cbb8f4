package workflow

import (
	"time"

	"github.com/reprise-run/reprise/replay"
)

// Signal is the durable name of a signal, with the type of its payload. It is a constant that the
// workflow's code and the senders share. Signals queue in the order they came, even before anyone
// receives, and each is received once.
type Signal[T any] string

// Receive returns the next signal of this name, waiting for it if there is none. Errors: the
// scope's, if it is cancelled while no signal is queued. A payload that does not decode into a T
// blocks the run.
func (s Signal[T]) Receive(ctx Context) (T, error) {
	var zero T
	q, err := s.queue(ctx)
	if err != nil {
		return zero, err
	}
	err = ctx.scope.Await(func() bool { return q.Len() > 0 }, q.Cond())
	return s.receive(ctx, q, err)
}

// ReceiveTimeout is Receive for at most d of workflow time; ok is false if no signal came in
// time. A signal that comes at the moment at which the time is up counts. With d <= 0 it does not
// wait.
func (s Signal[T]) ReceiveTimeout(ctx Context, d time.Duration) (v T, ok bool, err error) {
	q, err := s.queue(ctx)
	if err != nil {
		return v, false, err
	}
	var late *replay.Command
	if q.Len() == 0 {
		late = ctx.scope.Timer(string(s), d)
	}
	over := func() bool { return late != nil && late.Outcome() == replay.Completed }
	if late != nil && late.Outcome() == replay.Unresolved {
		err = ctx.scope.Await(func() bool { return q.Len() > 0 || over() }, q.Cond(), late.Cond())
	} else if late != nil && !over() {
		err = ctx.scope.Err() // the scope was cancelled before
	}
	// A signal that came counts, even if the time is up in the same moment.
	if err == nil && q.Len() == 0 {
		return v, false, nil
	}
	if late != nil {
		late.Cancel()
	}
	v, err = s.receive(ctx, q, err)
	return v, err == nil, err
}

// Pending is how many signals of this name were not received.
func (s Signal[T]) Pending(ctx Context) int {
	e := ctx.reader()
	e.Poll()
	return e.SignalQueue(string(s)).Len()
}

func (s Signal[T]) queue(ctx Context) (*replay.SignalQueue, error) {
	e, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	if err := checkName("signal", string(s)); err != nil {
		return nil, err
	}
	e.Poll()
	return e.SignalQueue(string(s)), nil
}

// receive pops the signal that a wait ended with, and lets the next strand look.
func (s Signal[T]) receive(ctx Context, q *replay.SignalQueue, err error) (T, error) {
	var v T
	e := ctx.scope.Env()
	if err == nil {
		decode(e, "signal", string(s), q.Pop(), &v)
	}
	e.Pass(q)
	return v, err
}
