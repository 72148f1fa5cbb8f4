package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

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

// apply changes the state that strands look at. They run afterwards.
func (m *Machine) apply(ev *journal.Event) {
	if ev.Kind.Terminal() || ev.Kind == journal.RunContinued {
		m.seal(ev)
		return
	}
	if m.terminal != nil {
		m.diverge(describe(ev), m.terminal.Kind.String()+" before it")
		return
	}
	switch ev.Kind {
	case journal.RunStarted:
		m.start()
	case journal.SignalReceived:
		m.deliver(ev)
	case journal.CancelRequested:
		if m.cancelledBy == 0 {
			m.cancelledBy = ev.Inbox // a later one changes nothing
		}
		m.root.end(requested(ev))
	case journal.UpdateReceived:
		m.update(ev)
	case journal.MessageDropped:
	default:
		m.answer(ev)
	}
}

func (m *Machine) start() {
	m.root = &Scope{m: m}
	m.strands.spawn(func() {
		m.finish(m.def.Run(m, m.info.Input))
	})
}

// requested is why the root scope is cancelled, with the reason that came with the request.
func requested(ev *journal.Event) error {
	if f, err := journal.DecodeFailure(ev.Payload); err == nil && f.Message != "" {
		return &scopeError{kind: ErrCancelled, reason: f.Message}
	}
	return ErrCancelled
}

func (m *Machine) answer(ev *journal.Event) {
	kind, outcome := answers(ev.Kind)
	c := m.open.find(ev.Cmd)
	switch {
	case c == nil:
		m.diverge(describe(ev), "no open command "+strconv.Itoa(int(ev.Cmd)))
		return
	case c.kind != kind || c.name != ev.Name:
		m.diverge(describe(ev), "command "+strconv.Itoa(int(ev.Cmd))+": "+c.String())
		return
	}
	c.payload, c.attempts = ev.Payload, ev.Attempt
	if kind == journal.CommandTimer {
		m.timers.disarm(c)
	}
	m.resolve(c, outcome)
	if c.fired != nil {
		c.fired()
	}
}

func (m *Machine) resolve(c *Command, o Outcome) {
	c.outcome = o
	c.body = nil // it may hold much
	c.scope.commands.Remove(&c.node)
	m.open.remove(c.cmd)
	m.Open(&c.gate)
}

// seal takes a terminal event: the code must have decided the same, unless an operator did.
func (m *Machine) seal(ev *journal.Event) {
	switch {
	case ev.Kind == journal.RunTerminated:
		m.unwind(false)
	case m.terminal == nil:
		m.diverge(describe(ev), m.rest())
		return
	case m.terminal.Kind != ev.Kind:
		m.diverge(describe(ev), m.terminal.Kind.String())
		return
	}
	m.sealed = true
}

// issue records a command: Step lists it, Replay compares it with the history's list. It
// returns false if the machine is dead and no strand runs that could be stopped.
func (m *Machine) issue(got journal.Issued) bool {
	if m.readOnly {
		panic(m.readOnlyError())
	}
	if m.err != nil {
		return false
	}
	m.spend()
	if !m.replaying {
		m.issued = append(m.issued, got)
		return m.weigh(&got)
	}
	want := "nothing more"
	if w := m.expected(); w != nil {
		m.matched++
		if w.Kind == got.Kind && w.Name == got.Name && w.Target == got.Target &&
			(w.Detail == got.Detail || w.Kind == journal.CommandRecord) {
			return true
		}
		want = shown(w)
	}
	m.diverge(want, shown(&got))
	return false
}

// weigh stops code that asks for more in reaction to one event than a store keeps of it.
func (m *Machine) weigh(got *journal.Issued) bool {
	if m.volume += len(got.Name) + len(got.Detail); m.volume <= journal.IssuedBytesMax {
		return true
	}
	what := fmt.Sprintf("%s at event %d: all that was asked for there, in bytes,", shown(got), m.event.Seq)
	m.Abort(&journal.LimitError{What: what, Size: m.volume, Max: journal.IssuedBytesMax})
	return false
}

// shown is a command for people: a recorded value may be long, or secret.
func shown(i *journal.Issued) string {
	line := *i
	if line.Kind == journal.CommandRecord {
		line.Detail = ""
	}
	return strings.Replace(line.String(), "\t", " ", 1)
}

// expected is the command that the history has next, nil for none. Changes that the code no longer asks about are passed
// over, so that they can be taken out of it.
func (m *Machine) expected() *journal.Issued {
	for m.matched < len(m.event.Issued) {
		w := &m.event.Issued[m.matched]
		if w.Kind != journal.CommandChange {
			return w
		}
		m.passOver(w)
	}
	return nil
}

// passOver takes a change that the code did not ask about here. If it asks later, the answer is the one that the history
// was made with.
func (m *Machine) passOver(w *journal.Issued) {
	m.matched++
	m.open.add(nil)
	m.changes.remember(w.Name, true)
}

// diverge makes the machine dead. Called from workflow code it does not return.
func (m *Machine) diverge(want, got string) {
	d := &DivergenceError{Seq: m.event.Seq, Want: want, Got: got}
	if m.running.Load() != nil {
		site := callsite.Caller()
		d.Where, d.Verb = site.Where, site.Verb
	}
	m.Abort(d)
}

// rest says what the code did instead of what the history expects of it.
func (m *Machine) rest() string {
	if m.terminal != nil {
		return m.terminal.Kind.String()
	}
	if w := m.Waiting(); len(w) > 0 {
		return "waiting for " + strings.Join(w, ", ")
	}
	return "waiting"
}

func describe(ev *journal.Event) string {
	s := ev.Kind.String()
	if ev.Name != "" {
		s += " " + ev.Name
	}
	if ev.Cmd != 0 {
		s += " for command " + strconv.Itoa(int(ev.Cmd))
	}
	return s
}
