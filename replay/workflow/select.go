package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/replay"
)

// Case is one thing that Select waits for, and what to do when it comes.
type Case struct {
	bind func(m *replay.Machine, b *bound) error
}

// bound is a case of a running Select.
type bound struct {
	ready func() bool
	gate  *replay.Gate // nil if the case can not become ready later
	box   *replay.Mailbox
	fire  func()
	idle  bool // Default
}

// OnFuture is ready when the step has its outcome. fn gets what Get would return; it may be nil.
func OnFuture[T any](f Future[T], fn func(T, error)) Case {
	return Case{func(m *replay.Machine, b *bound) error {
		if f.f == nil {
			return fmt.Errorf("a zero Future: %w", ErrOutside)
		}
		b.ready = f.f.resolved
		if f.f.source != nil {
			b.gate = f.f.source.Gate()
		}
		b.fire = func() {
			if v, err := f.f.outcome(m); fn != nil {
				fn(v, err)
			}
		}
		return nil
	}}
}

// OnSignal is ready when a signal waits. It is received only if this case is chosen. fn may be nil.
func OnSignal[T any](s Signal[T], fn func(T)) Case {
	return Case{func(m *replay.Machine, b *bound) error {
		if err := checkName("signal", string(s)); err != nil {
			return err
		}
		b.box = m.Mailbox(string(s))
		b.gate = b.box.Gate()
		b.ready = func() bool { return b.box.Len() > 0 }
		b.fire = func() {
			p := b.box.Pop()
			m.Pass(b.box)
			var v T
			decode(m, "signal", string(s), p, &v)
			if fn != nil {
				fn(v)
			}
		}
		return nil
	}}
}

// OnTimer is ready when the timer has fired. A stopped timer is never ready. fn may be nil.
func OnTimer(t Timer, fn func()) Case {
	return Case{func(_ *replay.Machine, b *bound) error {
		switch {
		case t.err != nil:
			return t.err
		case t.cmd == nil:
			return fmt.Errorf("a zero Timer: %w", ErrOutside)
		}
		b.gate = t.cmd.Gate()
		b.ready = func() bool { return t.cmd.Outcome() == replay.Completed }
		b.fire = orNothing(fn)
		return nil
	}}
}

// Default is chosen when no other case is ready: Select does not wait then. fn may be nil.
func Default(fn func()) Case {
	return Case{func(_ *replay.Machine, b *bound) error {
		b.idle, b.ready, b.fire = true, func() bool { return false }, orNothing(fn)
		return nil
	}}
}

func orNothing(fn func()) func() {
	if fn == nil {
		return func() {}
	}
	return fn
}

// Select waits until a case is ready, runs its function and returns its index. Of several that are ready it
// takes the one listed first, and leaves the others as they are: no signal is lost.
// If the scope is cancelled and no case is ready, it returns -1 and the scope's error. Without cases it waits
// for that.
func Select(ctx Context, cases ...Case) (int, error) {
	m, err := ctx.inside()
	if err != nil {
		return -1, err
	}
	m.Poll()
	list := make([]bound, len(cases))
	gates := make([]*replay.Gate, 0, len(cases))
	chosen, idle := -1, -1
	for i := range cases {
		b := &list[i]
		if cases[i].bind == nil {
			return -1, fmt.Errorf("select case %d: a zero Case: %w", i, ErrOutside)
		}
		if err := cases[i].bind(m, b); err != nil {
			return -1, fmt.Errorf("select case %d: %w", i, err)
		}
		if b.gate != nil {
			gates = append(gates, b.gate)
		}
		if b.idle && idle < 0 {
			idle = i
		}
	}
	ready := func() bool {
		for i := range list {
			if list[i].ready() {
				chosen = i
				return true
			}
		}
		return false
	}
	if idle < 0 {
		err = ctx.scope.Await(ready, gates...)
	} else if !ready() {
		chosen = idle
	}
	passOthers(m, list, chosen)
	if err != nil {
		return -1, err
	}
	list[chosen].fire()
	return chosen, nil
}

// passOthers lets other strands look for the signals that this one was woken for but does not take.
func passOthers(m *replay.Machine, list []bound, chosen int) {
	for i := range list {
		if b := list[i].box; b != nil && i != chosen {
			m.Pass(b)
		}
	}
}
