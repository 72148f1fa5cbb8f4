package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/replay"
)

// Case is one thing that Select waits for, and what to do when it comes.
type Case struct {
	bind func(e *replay.Env, b *bound) error
}

// bound is a case of a running Select. There are two sorts. One is ready by itself and stays so
// until it is taken: a future, a timer, a signal. The other needs another strand to act at the
// same moment, as a channel does; while the Select waits, such a case is a waiter in the
// channel's queue, and is served there.
type bound struct {
	ready func() bool
	cond  *replay.Cond // nil if the case can not become ready later
	queue *replay.SignalQueue
	// push and remove are of cases that another strand can serve: see wait. They are nil for
	// others.
	push   func(shared *wait, index int)
	remove func()
	fire   func(served bool) error
	idle   bool // Default
}

// OnFuture is ready when the future has its outcome. fn gets what Get would return; it may be
// nil.
func OnFuture[T any](f Future[T], fn func(T, error)) Case {
	return Case{func(e *replay.Env, b *bound) error {
		if f.f == nil {
			return fmt.Errorf("a zero Future: %w", ErrOutside)
		}
		if err := f.f.bind(e); err != nil {
			return err
		}
		b.ready = f.f.resolved
		if f.f.source != nil {
			b.cond = f.f.source.Cond()
		}
		b.fire = func(bool) error {
			if v, err := f.f.outcome(e); fn != nil {
				fn(v, err)
			}
			return nil
		}
		return nil
	}}
}

// OnSignal is ready when a signal waits. It is received only if this case is chosen. fn may be nil.
func OnSignal[T any](s Signal[T], fn func(T)) Case {
	return Case{func(e *replay.Env, b *bound) error {
		if err := checkName("signal", string(s)); err != nil {
			return err
		}
		b.queue = e.SignalQueue(string(s))
		b.cond = b.queue.Cond()
		r := &receipt[T]{e: e, name: string(s), q: b.queue}
		b.ready = r.ready
		b.fire = func(bool) error {
			v, _ := r.take(nil)
			if fn != nil {
				fn(v)
			}
			return nil
		}
		return nil
	}}
}

// OnTimer is ready when the timer has fired. A stopped timer is never ready. fn may be nil.
func OnTimer(t Timer, fn func()) Case {
	return Case{func(_ *replay.Env, b *bound) error {
		switch {
		case t.err != nil:
			return t.err
		case t.cmd == nil:
			return fmt.Errorf("a zero Timer: %w", ErrOutside)
		}
		b.cond = t.cmd.Cond()
		b.ready = func() bool { return t.cmd.Outcome() == replay.Completed }
		b.fire = calls(fn)
		return nil
	}}
}

// Default is chosen when no other case is ready: Select does not wait then. fn may be nil.
func Default(fn func()) Case {
	return Case{func(_ *replay.Env, b *bound) error {
		b.idle, b.ready, b.fire = true, func() bool { return false }, calls(fn)
		return nil
	}}
}

func calls(fn func()) func(bool) error {
	return func(bool) error {
		if fn != nil {
			fn()
		}
		return nil
	}
}

// Select waits until a case is ready, runs its function and returns its index. Of several that
// are ready it takes the one listed first, and leaves the others as they are: no signal and no
// channel's value is lost. While it waits another strand may complete a case of a channel; that
// case is taken, whatever else became ready meanwhile. Without cases it waits until the scope is
// cancelled.
//
// Errors: the scope's, with index -1, if it is cancelled while no case is ready;
// [ErrChannelClosed], with its index, for a case that sends on a closed channel; with index -1, a
// case that is zero or belongs to another run.
func Select(ctx Context, cases ...Case) (int, error) {
	e, err := ctx.inside()
	if err != nil {
		return -1, err
	}
	e.Poll()
	s := selection{list: make([]bound, len(cases)), chosen: -1, idle: -1}
	if err := s.bind(e, cases); err != nil {
		return -1, err
	}
	if !s.ready() {
		if s.idle >= 0 {
			s.chosen = s.idle
		} else {
			err = s.wait(ctx)
		}
	}
	passOthers(e, s.list, s.chosen)
	if err != nil {
		return -1, err
	}
	return s.chosen, s.list[s.chosen].fire(s.served.served != 0)
}

// selection is a running Select. It looks at the cases in their order; if none is ready it enters
// the queues of those that can be served, and waits for all at once. Being served comes first
// when it wakes, because it is done: the value has changed hands. Looking at a case whose waiter
// is queued would see the strand's own waiter, so such cases are not looked at then.
type selection struct {
	list   []bound
	conds  []*replay.Cond
	chosen int  // -1 as long as none is
	idle   int  // the index of Default, or -1
	queues bool // some case waits in a waitQueue
	queued bool // it is in there
	served wait
}

func (s *selection) bind(e *replay.Env, cases []Case) error {
	s.conds = make([]*replay.Cond, 0, len(cases))
	for i := range cases {
		b := &s.list[i]
		if cases[i].bind == nil {
			return fmt.Errorf("select case %d: a zero Case: %w", i, ErrOutside)
		}
		if err := cases[i].bind(e, b); err != nil {
			return fmt.Errorf("select case %d: %w", i, err)
		}
		if b.cond != nil {
			s.conds = append(s.conds, b.cond)
		}
		if b.idle && s.idle < 0 {
			s.idle = i
		}
		s.queues = s.queues || b.push != nil
	}
	return nil
}

// ready chooses the first case that is ready. What another strand completed is done, so it comes
// first.
func (s *selection) ready() bool {
	if s.served.served != 0 {
		s.chosen = s.served.served - 1
		return true
	}
	for i := range s.list {
		b := &s.list[i]
		// While the strand is in a queue, only being served counts. Looking would find itself in
		// the queue.
		if (!s.queued || b.push == nil) && b.ready() {
			s.chosen = i
			return true
		}
	}
	return false
}

func (s *selection) wait(ctx Context) error {
	if s.queued = s.queues; s.queues {
		for i := range s.list {
			if s.list[i].push != nil {
				s.list[i].push(&s.served, i)
			}
		}
	}
	err := ctx.scope.Await(s.ready, s.conds...)
	if s.queues {
		for i := range s.list {
			if s.list[i].remove != nil {
				s.list[i].remove()
			}
		}
	}
	return err
}

// passOthers lets other strands look for the signals that this one may have been woken for but
// does not take: see replay.SignalQueue.
func passOthers(e *replay.Env, list []bound, chosen int) {
	for i := range list {
		if b := list[i].queue; b != nil && i != chosen {
			e.Pass(b)
		}
	}
}
