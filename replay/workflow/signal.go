package workflow

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Signal is the durable name of a signal, with the type of its payload. It is a constant that the
// workflow's code and the senders share. Signals queue in the order they came, even before anyone
// receives, and each is received once.
//
// A signal whose payload does not decode into a T, which anybody may have sent, is set aside when
// its turn comes: code goes on to the next one, the node logs a warning with the run and the
// signal's number, and the history keeps the payload. With runtime.HandleOptions.BlockOnBadSignal
// it blocks the run instead, until code or a codec is deployed that decodes it.
type Signal[T any] string

// Receive returns the next signal of this name, waiting for it if there is none. Errors: the
// scope's, if it is cancelled while no signal is queued. A payload that does not decode into a T is
// not received: see [Signal].
func (s Signal[T]) Receive(ctx Context) (T, error) {
	r, err := s.receipt(ctx)
	if err != nil {
		return r.v, err
	}
	err = ctx.scope.Await(r.ready, r.q.Cond())
	return r.take(err)
}

// ReceiveTimeout is Receive for at most d of workflow time; ok is false if no signal came in
// time. A signal that comes at the moment at which the time is up counts. With d <= 0 it does not
// wait.
func (s Signal[T]) ReceiveTimeout(ctx Context, d time.Duration) (v T, ok bool, err error) {
	r, err := s.receipt(ctx)
	if err != nil {
		return v, false, err
	}
	var late *replay.Command
	if !r.ready() {
		late = ctx.scope.Timer(string(s), d)
	}
	over := func() bool { return late != nil && late.Outcome() == replay.Completed }
	if late != nil && late.Outcome() == replay.Unresolved {
		err = ctx.scope.Await(func() bool { return r.ready() || over() }, r.q.Cond(), late.Cond())
	} else if late != nil && !over() {
		err = ctx.scope.Err() // the scope was cancelled before
	}
	// A signal that came counts, even if the time is up in the same moment.
	if err == nil && r.q.Len() == 0 {
		return v, false, nil
	}
	if late != nil {
		late.Cancel()
	}
	v, err = r.take(err)
	return v, err == nil, err
}

// Pending is how many signals of this name were not received. Those that do not decode count only
// in code that may only read.
func (s Signal[T]) Pending(ctx Context) int {
	e := ctx.reader()
	e.Poll()
	var v T
	return e.SiftAll(e.SignalQueue(string(s)), func(p journal.Payload) error { return e.Encoder().Codec().Decode(p, &v) })
}

func (s Signal[T]) receipt(ctx Context) (*receipt[T], error) {
	e, err := ctx.inside()
	if err != nil {
		return &receipt[T]{}, err
	}
	if err := checkName("signal", string(s)); err != nil {
		return &receipt[T]{}, err
	}
	e.Poll()
	return &receipt[T]{e: e, name: string(s), q: e.SignalQueue(string(s))}, nil
}

// receipt is a receive under way: the queue, and the signal that take returns. It is decoded when
// ready finds it, which decides whether it is one; see replay.Env.Sift.
type receipt[T any] struct {
	e       *replay.Env
	name    string
	q       *replay.SignalQueue
	v       T
	decoded bool
}

// ready tells whether the queue has a signal. It is asked last right before take.
func (r *receipt[T]) ready() bool {
	return r.e.Sift(r.q, func(p journal.Payload) error {
		var v T
		if err := r.e.Encoder().Codec().Decode(p, &v); err != nil {
			return err
		}
		r.v, r.decoded = v, true
		return nil
	})
}

// take pops the signal that a wait ended with, err being nil, and lets the next strand look. On
// replay ready has decoded nothing.
func (r *receipt[T]) take(err error) (v T, _ error) {
	if err == nil {
		p := r.q.Pop()
		if !r.decoded {
			decode(r.e, "signal", r.name, p, &r.v)
		}
		v = r.v
	}
	r.e.Pass(r.q)
	return v, err
}
