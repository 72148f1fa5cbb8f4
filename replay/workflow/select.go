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
	// join and leave are of cases that another strand can serve: see wait. They are nil for others.
	join  func(w *wait, index int)
	leave func()
	fire  func(served bool) error
	idle  bool // Default
}

// OnFuture is ready when the step has its outcome. fn gets what Get would return; it may be nil.
func OnFuture[T any](f Future[T], fn func(T, error)) Case {
	return Case{func(m *replay.Machine, b *bound) error {
		if f.f == nil {
			return fmt.Errorf("a zero Future: %w", ErrOutside)
		}
		if err := f.f.use(m); err != nil {
			return err
		}
		b.ready = f.f.resolved
		if f.f.source != nil {
			b.gate = f.f.source.Gate()
		}
		b.fire = func(bool) error {
			if v, err := f.f.outcome(m); fn != nil {
				fn(v, err)
			}
			return nil
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
		b.fire = func(bool) error {
			p := b.box.Pop()
			m.Pass(b.box)
			var v T
			decode(m, "signal", string(s), p, &v)
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
	return Case{func(_ *replay.Machine, b *bound) error {
		switch {
		case t.err != nil:
			return t.err
		case t.cmd == nil:
			return fmt.Errorf("a zero Timer: %w", ErrOutside)
		}
		b.gate = t.cmd.Gate()
		b.ready = func() bool { return t.cmd.Outcome() == replay.Completed }
		b.fire = calls(fn)
		return nil
	}}
}

// Default is chosen when no other case is ready: Select does not wait then. fn may be nil.
func Default(fn func()) Case {
	return Case{func(_ *replay.Machine, b *bound) error {
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

// Select waits until a case is ready, runs its function and returns its index. Of several that are ready it
// takes the one listed first, and leaves the others as they are: no signal and no channel's value is lost. While it
// waits another strand may complete a case of a channel; that case is taken, whatever else became ready meanwhile.
// If the scope is cancelled and no case is ready, it returns -1 and the scope's error. Without cases it waits
// for that. A case that sends on a closed channel is chosen as well: Select returns its index and ErrChannelClosed.
func Select(ctx Context, cases ...Case) (int, error) {
	m, err := ctx.inside()
	if err != nil {
		return -1, err
	}
	m.Poll()
	s := selection{list: make([]bound, len(cases)), chosen: -1, idle: -1}
	if err := s.bind(m, cases); err != nil {
		return -1, err
	}
	if !s.ready() {
		if s.idle >= 0 {
			s.chosen = s.idle
		} else {
			err = s.wait(ctx)
		}
	}
	passOthers(m, s.list, s.chosen)
	if err != nil {
		return -1, err
	}
	return s.chosen, s.list[s.chosen].fire(s.served.served != 0)
}

// selection is a running Select.
type selection struct {
	list   []bound
	gates  []*replay.Gate
	chosen int  // -1 as long as none is
	idle   int  // the index of Default, or -1
	joins  bool // some case stands in a line while it waits
	joined bool // it does
	served wait
}

func (s *selection) bind(m *replay.Machine, cases []Case) error {
	s.gates = make([]*replay.Gate, 0, len(cases))
	for i := range cases {
		b := &s.list[i]
		if cases[i].bind == nil {
			return fmt.Errorf("select case %d: a zero Case: %w", i, ErrOutside)
		}
		if err := cases[i].bind(m, b); err != nil {
			return fmt.Errorf("select case %d: %w", i, err)
		}
		if b.gate != nil {
			s.gates = append(s.gates, b.gate)
		}
		if b.idle && s.idle < 0 {
			s.idle = i
		}
		s.joins = s.joins || b.join != nil
	}
	return nil
}

// ready chooses the first case that is ready. What another strand completed is done, so it comes first.
func (s *selection) ready() bool {
	if s.served.served != 0 {
		s.chosen = s.served.served - 1
		return true
	}
	for i := range s.list {
		b := &s.list[i]
		// While the strand stands in a line, only being served counts. Looking would find itself in the line.
		if (!s.joined || b.join == nil) && b.ready() {
			s.chosen = i
			return true
		}
	}
	return false
}

func (s *selection) wait(ctx Context) error {
	if s.joined = s.joins; s.joins {
		for i := range s.list {
			if s.list[i].join != nil {
				s.list[i].join(&s.served, i)
			}
		}
	}
	err := ctx.scope.Await(s.ready, s.gates...)
	if s.joins {
		for i := range s.list {
			if s.list[i].leave != nil {
				s.list[i].leave()
			}
		}
	}
	return err
}

// passOthers lets other strands look for the signals that this one was woken for but does not take.
func passOthers(m *replay.Machine, list []bound, chosen int) {
	for i := range list {
		if b := list[i].box; b != nil && i != chosen {
			m.Pass(b)
		}
	}
}
