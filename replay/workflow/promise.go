package workflow

import "github.com/reprise-run/reprise/replay"

// Promise is a future that the workflow's own code settles, once. The zero Promise is ready for
// use; it must not be copied. Like a Channel it is not in the history.
type Promise[T any] struct {
	binding
	f       future[T]
	cond    replay.Cond
	settled bool
}

// NewPromise makes a promise that is not settled.
func NewPromise[T any]() *Promise[T] { return new(Promise[T]) }

// Future returns what Get, OnFuture, All and First wait for. It is the same each time.
func (p *Promise[T]) Future() Future[T] {
	if p.f.source == nil {
		p.f.source = pending{&p.binding, &p.cond, &p.settled}
		p.cond.What, p.cond.Internal = "promise", true
	}
	return Future[T]{&p.f}
}

// Resolve settles the promise with a value. It reports false, and does nothing, if it was settled
// before.
func (p *Promise[T]) Resolve(v T) bool { return p.settle(v, nil) }

// Fail settles the promise with an error, which must not be nil: it panics then. It reports false,
// and does nothing, if the promise was settled before.
func (p *Promise[T]) Fail(err error) bool {
	if err == nil {
		panic("workflow: a promise fails with a nil error")
	}
	var zero T
	return p.settle(zero, err)
}

func (p *Promise[T]) settle(v T, err error) bool {
	p.check()
	if p.settled {
		return false
	}
	p.settled = true
	p.f.known, p.f.value, p.f.err = true, v, err
	if p.env != nil {
		p.env.Broadcast(&p.cond)
	}
	return true
}

// pending is the source of a promise's future.
type pending struct {
	binding *binding
	cond    *replay.Cond
	settled *bool
}

// Cond is broadcast when the promise is settled.
func (p pending) Cond() *replay.Cond { return p.cond }

// Resolved tells whether the promise is settled.
func (p pending) Resolved() bool { return *p.settled }

// Await waits until the promise is settled.
func (p pending) Await(sc *replay.Scope) error {
	return sc.Await(p.Resolved, p.cond)
}
