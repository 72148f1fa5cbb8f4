package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Replay applies an event of the history. It returns an error if the code does not do what
// ev.Issued says, or nothing answers to ev; the machine is dead then.
func (m *Machine) Replay(ev *journal.Event) error { return m.process(ev, true) }

// Step applies a new event and fills its Issued. The caller has set everything else. The time is cut to whole
// microseconds, as stores keep it: the same due times must follow from it on replay.
func (m *Machine) Step(ev *journal.Event) error {
	ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
	if kind, _ := answers(ev.Kind); ev.Inbox != 0 && kind != 0 && m.open.find(ev.Cmd) == nil {
		ev.Kind, ev.Cmd, ev.Name, ev.Payload = journal.MessageDropped, 0, "", journal.Payload{}
	}
	err := m.process(ev, false)
	if ev.Issued = nil; err == nil {
		ev.Issued = m.issued
	}
	m.issued = nil
	return err
}

func (m *Machine) process(ev *journal.Event, replaying bool) error {
	if m.err != nil {
		return m.err
	}
	if m.Finished() && !replaying && !ev.Kind.Terminal() && ev.Kind != journal.RunContinued {
		return ErrFinished
	}
	m.event, m.replaying, m.matched, m.spent, m.volume = ev, replaying, 0, 0, 0
	m.conditions.unsettle()
	if err := m.checkOrder(ev); err != nil {
		m.fail(err)
	} else {
		m.seq, m.now = ev.Seq, ev.Time.UTC() // a node's time zone must not reach the code
		m.inboxSeen = max(m.inboxSeen, ev.Inbox)
		m.bytes += len(ev.Payload.Data)
		m.measure(ev)
		m.apply(ev)
	}
	m.run()
	if m.err == nil && replaying {
		if w := m.expected(); w != nil {
			m.diverge(shown(w), m.rest())
		}
	}
	if m.err != nil {
		m.bury()
	}
	m.event = nil
	return m.err
}

func (m *Machine) checkOrder(ev *journal.Event) error {
	switch {
	case !ev.Kind.Known():
		return fmt.Errorf("event %d: %s: %w", ev.Seq, ev.Kind, ErrUnknownKind)
	case ev.Seq != m.seq+1:
		return fmt.Errorf("event %d comes after %d (J1): %w", ev.Seq, m.seq, ErrOrder)
	case ev.Time.Before(m.now):
		return fmt.Errorf("event %d of %s is earlier than workflow time %s: %w",
			ev.Seq, ev.Time.Format(time.RFC3339Nano), m.now.Format(time.RFC3339Nano), ErrOrder)
	case (ev.Kind == journal.RunStarted) != (ev.Seq == 1):
		return fmt.Errorf("event %d is %s: a history begins with RunStarted, once: %w", ev.Seq, ev.Kind, ErrOrder)
	case m.sealed:
		return fmt.Errorf("event %d comes after the terminal one (J7): %w", ev.Seq, ErrOrder)
	}
	return nil
}

// run resumes strands, strictly one at a time, until all are blocked.
func (m *Machine) run() {
	for m.err == nil && m.terminal == nil {
		s := m.strands.pop()
		if s == nil {
			if s = m.conditions.checker(); s == nil {
				return
			}
		}
		if m.spend(); m.err != nil {
			return
		}
		m.running.Store(s)
		done, crash := s.co.Resume()
		m.running.Store(nil)
		if done {
			m.strands.live.Remove(&s.node)
		}
		if crash != nil {
			m.fail(crashed("", crash.Value, crash.PCs, crash.Stack))
		} else if m.doomed != nil {
			m.fail(m.doomed)
		}
	}
	if m.err == nil && m.terminal != nil {
		m.unwind(false)
	}
}

// park rests the running strand until one of its waiters' gates or the scope's opens. Code that panics must not wait: what
// it asked for would be committed, and be in the way of code that does not panic. What is in a history already is replayed.
func (m *Machine) park(s *strand, sc *Scope) error {
	if !m.replaying && s.panicking() {
		return m.refuse()
	}
	if m.doomed != nil {
		m.Abort(m.doomed)
	}
	if s.internal() {
		s.mark()
	}
	if sc.err == nil {
		s.waiters = append(s.waiters, waiter{strand: s, gate: &sc.gate})
	}
	for i := range s.waiters { // after the last append: the gates keep pointers
		w := &s.waiters[i]
		w.gate.enter(w)
	}
	s.co.Park()
	for i := range s.waiters {
		s.waiters[i].leave()
	}
	s.waiters = s.waiters[:0]
	s.unmark()
	return nil
}

// enter returns the strand that runs. During unwinding it does not return.
func (m *Machine) enter() (*strand, error) {
	s := m.running.Load()
	switch {
	case s == nil:
		return nil, ErrOutside
	case m.readOnly:
		return nil, m.readOnlyError()
	case m.unwinding:
		s.co.Park()
	}
	return s, nil
}

// Inside returns nil if workflow code of this machine is running and may change the run: ErrOutside or ErrReadOnly
// if not. It cannot tell a foreign goroutine that calls while a strand runs; the race detector can.
func (m *Machine) Inside() error {
	if err := m.Reading(); err != nil {
		return err
	}
	if m.readOnly {
		return m.readOnlyError()
	}
	return nil
}

// Reading returns ErrOutside unless workflow code of this machine is running, code that may only read included.
func (m *Machine) Reading() error {
	if m.running.Load() == nil {
		return ErrOutside
	}
	return nil
}

// Go spawns a strand. It first runs when the strands spawned before it are blocked.
func (m *Machine) Go(fn func()) {
	if m.readOnly {
		panic(m.readOnlyError())
	}
	if m.unwinding {
		return
	}
	m.spend()
	m.strands.spawn(fn)
}

// Poll counts a look that does not block, so that code that loops over it is stopped.
func (m *Machine) Poll() {
	if !m.readOnly {
		m.spend()
	}
}

func (m *Machine) spend() {
	if m.spent++; m.spent > spendMax && !m.unwinding {
		m.Abort(fmt.Errorf("after %d actions at event %d: %w", spendMax, m.seq, ErrRunaway))
	}
}

// Abort makes the machine dead. Called from workflow code it does not return.
func (m *Machine) Abort(err error) {
	s := m.running.Load()
	if s == &onlooker {
		panic(err) // who looks at a run must not end it
	}
	if m.fail(err); s != nil {
		s.co.Park()
	}
}

func (m *Machine) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// bury ends the strands of a dead machine. For a divergence that no call made, the first strand's
// place is where to look.
func (m *Machine) bury() {
	var d *DivergenceError
	trace := errors.As(m.err, &d) && d.Where == ""
	site := m.unwind(trace)
	if trace {
		d.Where, d.Verb = site.Where, site.Verb
	}
}

// unwind ends all strands in spawn order, and drops what is open: steps are asked to stop.
func (m *Machine) unwind(trace bool) (first callsite.Site) {
	m.unwinding = true
	for s := m.strands.live.First(); s != nil; s = m.strands.live.First() {
		m.strands.live.Remove(&s.node)
		m.running.Store(s)
		pcs := s.co.Unwind(trace)
		m.running.Store(nil)
		if first.Where == "" {
			first = callsite.Of(pcs)
		}
	}
	m.strands, m.conditions = strands{}, nil
	m.timers = nil
	m.mailboxes = nil
	m.open.clear()
	return first
}
