package replay

import (
	"strconv"
	"strings"
	"time"

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
	}
	return 0, Unresolved
}

// apply changes the state that strands look at. They run afterwards.
func (m *Machine) apply(ev *journal.Event) {
	if ev.Kind.Terminal() {
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
		m.deliver(ev.Name, ev.Payload)
	case journal.CancelRequested:
		m.root.end(requested(ev))
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
	c.scope.remove(c)
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
func (m *Machine) issue(k journal.CommandKind, name string, target journal.Cmd, at time.Time) bool {
	if m.readOnly {
		panic(ErrReadOnly)
	}
	if m.err != nil {
		return false
	}
	m.spend()
	got := journal.Issued{Kind: k, Name: name, Target: target}
	if k == journal.CommandTimer {
		got.Due = at
	}
	if !m.replaying {
		m.issued = append(m.issued, got)
		return true
	}
	want := "nothing more"
	if m.matched < len(m.event.Issued) {
		w := &m.event.Issued[m.matched]
		m.matched++
		if w.Kind == k && w.Name == name && w.Target == target {
			return true
		}
		want = w.String()
	}
	m.diverge(want, got.String())
	return false
}

// diverge makes the machine dead. Called from workflow code it does not return.
func (m *Machine) diverge(want, got string) {
	d := &DivergenceError{Seq: m.event.Seq, Want: want, Got: got}
	if m.running.Load() != nil {
		d.Where = callerFrame()
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
