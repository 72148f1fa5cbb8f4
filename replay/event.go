package replay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Replay applies an event of the history. It returns an error if the code does not do what
// ev.Issued says, or nothing answers to ev; the machine is dead then. An event that has a link must
// be chained to the one before, else the error is a [LinkError].
func (m *Machine) Replay(ev *journal.Event) error {
	if m.env.err != nil {
		return m.env.err
	}
	link := ev.LinkAfter(m.link)
	if ev.Link != 0 && ev.Link != link {
		m.env.fail(&LinkError{Seq: ev.Seq, Kind: ev.Kind, Link: ev.Link, Want: link})
		m.bury()
		return m.env.err
	}
	err := m.process(ev, true)
	if err == nil {
		m.link = link
	}
	return err
}

// Step applies a new event and fills its Issued and its Link. The caller has set everything else:
// see Offer and Stamp. The time is cut to whole microseconds, as stores keep it: the same due times
// must follow from it on replay. An answer from the inbox that no open command waits for becomes
// MessageDropped.
//
// It returns ErrFinished, and changes nothing, after the code has returned. Any other error is of
// the code, and the machine is dead.
func (m *Machine) Step(ev *journal.Event) error {
	ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
	if kind, _ := answers(ev.Kind); ev.Inbox != 0 && kind != 0 && m.env.open.find(ev.Cmd) == nil {
		ev.Kind, ev.Cmd, ev.Name, ev.Payload = journal.MessageDropped, 0, "", journal.Payload{}
	}
	err := m.process(ev, false)
	if ev.Issued = nil; err == nil {
		ev.Issued = m.env.issued
		m.link = ev.LinkAfter(m.link)
		ev.Link = m.link
	}
	m.env.issued = nil
	return err
}

// process is one turn of the machine: check, apply, run, and in replay compare.
func (m *Machine) process(ev *journal.Event, replaying bool) error {
	e := &m.env
	if e.err != nil {
		return e.err
	}
	if m.Finished() && !replaying && !ends(ev.Kind) {
		return ErrFinished
	}
	e.begin(ev, replaying)
	if err := m.checkOrder(ev); err != nil {
		e.fail(err)
	} else if m.terminal != nil && !ends(ev.Kind) {
		e.diverge(describe(ev), m.terminal.Kind.String()) // in replay alone: ErrFinished came first
	} else {
		e.seq, e.now = ev.Seq, ev.Time.UTC() // a node's time zone must not reach the code
		m.inboxSeen = max(m.inboxSeen, ev.Inbox)
		e.length.bytes += len(ev.Payload.Data)
		m.measure(ev)
		m.apply(ev)
	}
	e.run()
	if e.err == nil && e.returned {
		m.unwind(false)
	}
	if e.err == nil && replaying {
		if w := e.expected(); w != nil {
			e.diverge(shown(w), m.reaction())
		}
	}
	if e.err != nil {
		m.bury()
	}
	e.event = nil
	return e.err
}

// CheckOpen ends the replay of the history of an open run. It returns a *DivergenceError if the
// code has returned, and the machine is dead then: the history says that it waits, because its
// return would be in the history. So code that lost a wait ends no run.
func (m *Machine) CheckOpen() error {
	if m.env.err == nil && m.terminal != nil && !m.sealed {
		m.env.fail(&DivergenceError{Seq: m.env.seq, Want: "code that waits for more", Got: m.terminal.Kind.String()})
		m.bury()
	}
	return m.env.err
}

// ends tells whether the event is the last of its generation.
func ends(k journal.Kind) bool { return k.Terminal() || k == journal.RunContinued }

// checkOrder refuses an event that cannot be the next one of this history.
func (m *Machine) checkOrder(ev *journal.Event) error {
	e := &m.env
	switch {
	case !ev.Kind.Known():
		return fmt.Errorf("event %d: %s: %w", ev.Seq, ev.Kind, ErrUnknownKind)
	case ev.Seq != e.seq+1:
		return fmt.Errorf("event %d comes after %d (J1): %w", ev.Seq, e.seq, ErrOrder)
	case ev.Time.Before(e.now):
		return fmt.Errorf("event %d of %s is earlier than workflow time %s: %w",
			ev.Seq, ev.Time.Format(time.RFC3339Nano), e.now.Format(time.RFC3339Nano), ErrOrder)
	case (ev.Kind == journal.RunStarted) != (ev.Seq == 1):
		return fmt.Errorf("event %d is %s: a history begins with RunStarted, once: %w", ev.Seq, ev.Kind, ErrOrder)
	case m.sealed:
		return fmt.Errorf("event %d comes after the terminal one (J7): %w", ev.Seq, ErrOrder)
	}
	return nil
}

// apply changes the state that strands look at. They run afterwards.
func (m *Machine) apply(ev *journal.Event) {
	e := &m.env
	if ev.Kind.Terminal() || ev.Kind == journal.RunContinued {
		m.seal(ev)
		return
	}
	if m.terminal != nil {
		e.diverge(describe(ev), m.terminal.Kind.String()+" before it")
		return
	}
	switch ev.Kind {
	case journal.RunStarted:
		e.root = &Scope{env: e}
		e.strands.spawn(func() { m.finish(m.run()) })
	case journal.SignalReceived:
		e.deliver(ev)
	case journal.CancelRequested:
		if m.cancelledBy.Number == 0 { // a later one changes nothing
			m.cancelledBy = journal.Message{Number: ev.Inbox, Kind: journal.MessageCancel, Payload: ev.Payload}
		}
		e.root.end(requested(ev))
	case journal.UpdateReceived:
		e.update(ev)
	case journal.MessageDropped:
	default:
		m.answer(ev)
	}
}

// answers is the table of what answers what: the kind of command that an event resolves, and how.
func answers(k journal.Kind) (journal.CommandKind, Outcome) {
	switch k {
	case journal.StepCompleted:
		return journal.CommandStep, Completed
	case journal.StepFailed:
		return journal.CommandStep, Failed
	case journal.TimerFired:
		return journal.CommandTimer, Completed
	case journal.ChildCompleted:
		return journal.CommandChild, Completed
	case journal.ChildFailed:
		return journal.CommandChild, Failed
	case journal.SignalSent:
		return journal.CommandSend, Completed
	case journal.SignalRefused:
		return journal.CommandSend, Failed
	}
	return 0, Unresolved
}

// answer gives a command its outcome. It must be open, and be the one that the event is about.
func (m *Machine) answer(ev *journal.Event) {
	e := &m.env
	kind, outcome := answers(ev.Kind)
	c := e.open.find(ev.Cmd)
	switch {
	case c == nil:
		e.diverge(describe(ev), "no open command "+strconv.Itoa(int(ev.Cmd)))
		return
	case c.kind != kind || c.name != ev.Name:
		e.diverge(describe(ev), "command "+strconv.Itoa(int(ev.Cmd))+": "+c.String())
		return
	}
	c.payload, c.attempts = ev.Payload, ev.Attempt
	if kind == journal.CommandTimer {
		e.timers.disarm(c)
	}
	e.resolve(c, outcome)
	if c.fired != nil {
		c.fired()
	}
}

// requested is why the root scope is cancelled, with the reason that came with the request: that
// the run's time is up, or what the sender wrote.
func requested(ev *journal.Event) error {
	f, err := journal.DecodeFailure(ev.Payload)
	switch {
	case err != nil || f.Message == "":
		return ErrCancelled
	case f.Type == journal.FailureTimeout && ev.Inbox == 0:
		return &scopeError{kind: ErrTimeout, reason: f.Message}
	}
	return &scopeError{kind: ErrCancelled, reason: f.Message}
}

// seal takes a terminal event: the code must have decided the same, unless the store has closed the
// run without it.
func (m *Machine) seal(ev *journal.Event) {
	switch {
	case ev.Kind == journal.RunTerminated, ev.ByStore() && m.terminal == nil:
		m.unwind(false)
	case m.terminal == nil:
		m.env.diverge(describe(ev), m.reaction())
		return
	case m.terminal.Kind != ev.Kind:
		m.env.diverge(describe(ev), m.terminal.Kind.String())
		return
	}
	m.sealed = true
}

// bury ends the strands of a dead machine. For a divergence that no call made, the line at which
// the first strand waits is where to look.
func (m *Machine) bury() {
	var d *DivergenceError
	trace := errors.As(m.env.err, &d) && d.Where == ""
	site := m.unwind(trace)
	if trace {
		d.Where, d.Verb = site.Where, site.Verb
	}
}

// reaction says what the code did instead of what the history expects of it.
func (m *Machine) reaction() string {
	if m.terminal != nil {
		return m.terminal.Kind.String()
	}
	if w := m.Waiting(); len(w) > 0 {
		return "waiting for " + strings.Join(w, ", ")
	}
	return "waiting"
}
