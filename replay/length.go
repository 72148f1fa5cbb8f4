package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Thresholds say from where on a history is long: as many events, or as many bytes of payloads
// and recorded values.
type Thresholds struct {
	Events int
	Bytes  int // of payloads
}

// Defaults of Thresholds: where replaying the history takes some milliseconds.
const (
	continueEvents = 4096
	continueBytes  = 4 << 20
)

// length watches how long the history becomes. See measure for why that is recorded.
type length struct {
	limit         Thresholds
	bytes         int // of all payloads so far, recorded ones among them
	overThreshold bool
}

// SetThresholds changes what ShouldContinue goes by; zero fields keep the default.
func (m *Machine) SetThresholds(t Thresholds) { m.env.length.set(t) }

func (l *length) set(t Thresholds) {
	if t.Events > 0 {
		l.limit.Events = t.Events
	}
	if t.Bytes > 0 {
		l.limit.Bytes = t.Bytes
	}
}

// continueMark is the change that an event records first when the history has become long.
const continueMark = "~continue"

// measure notes whether the history has become long. Thresholds are a node's options and may differ
// on the node that replays, so the answer is recorded, once, and replay goes by the record.
func (m *Machine) measure(ev *journal.Event) {
	e := &m.env
	switch {
	case e.length.overThreshold || m.terminal != nil || ev.Kind.Terminal() || ev.Kind == journal.RunContinued:
	case e.replaying:
		if len(ev.Issued) > 0 && ev.Issued[0].Kind == journal.CommandChange && ev.Issued[0].Name == continueMark {
			e.length.overThreshold = e.marked(continueMark)
		}
	case int(e.seq) >= e.length.limit.Events || e.length.bytes >= e.length.limit.Bytes:
		e.length.overThreshold = e.mark(continueMark)
	}
}

// ShouldContinue tells whether the history is long.
func (e *Env) ShouldContinue() bool {
	if err := e.Reading(); err != nil {
		callsite.Refuse(err)
	}
	e.Poll()
	return e.length.overThreshold
}
