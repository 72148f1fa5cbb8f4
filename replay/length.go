package replay

import "github.com/reprise-run/reprise/journal"

// Thresholds say when a history is long.
type Thresholds struct {
	Events int
	Bytes  int // of payloads
}

// Defaults of Thresholds: where replaying the history takes some milliseconds.
const (
	continueEvents = 4096
	continueBytes  = 4 << 20
)

// SetThresholds changes what ShouldContinue goes by; zero fields keep the default.
func (m *Machine) SetThresholds(t Thresholds) {
	if t.Events > 0 {
		m.hint.Events = t.Events
	}
	if t.Bytes > 0 {
		m.hint.Bytes = t.Bytes
	}
}

// continueMark is the change that an event records first when the history has become long.
const continueMark = "~continue"

// measure notes whether the history has become long. That is recorded, once, so that thresholds may change.
func (m *Machine) measure(ev *journal.Event) {
	switch {
	case m.long || m.terminal != nil || ev.Kind.Terminal() || ev.Kind == journal.RunContinued:
	case m.replaying:
		if len(ev.Issued) > 0 && ev.Issued[0].Kind == journal.CommandChange && ev.Issued[0].Name == continueMark {
			m.long = m.passed(continueMark)
		}
	case int(m.seq) >= m.hint.Events || m.bytes >= m.hint.Bytes:
		m.long = m.mark(continueMark)
	}
}

// ShouldContinue tells whether the history is long.
func (m *Machine) ShouldContinue() bool {
	if err := m.Reading(); err != nil {
		panic(err)
	}
	m.Poll()
	return m.long
}
