package replay

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Timer is an armed timer, or, without a Cmd, the end of the time that the run may take.
type Timer struct {
	Cmd  journal.Cmd
	Name string
	Due  time.Time

	limit time.Duration // without a Cmd: that time
}

// Event is what becomes of the timer when it is due, for Stamp. The end of the run's time is a
// cancel request that is in no inbox.
func (t *Timer) Event() journal.Event {
	if t.Cmd != 0 {
		return journal.Event{Kind: journal.TimerFired, Cmd: t.Cmd, Name: t.Name}
	}
	f := &journal.Failure{Type: journal.FailureTimeout, Message: fmt.Sprintf("the run's time of %s is up", t.limit), Permanent: true}
	return journal.Event{Kind: journal.CancelRequested, Payload: journal.EncodeFailure(f)}
}

// NextTimer returns the armed timer that is due first. The run's time is one as long as nothing has
// cancelled the code, and its function has not failed: it is no command, and what it does is in the
// history only when it is up. So a run can be given a time, or another one, while it goes on.
func (m *Machine) NextTimer() (Timer, bool) {
	next, armed := Timer{}, len(m.env.timers) > 0 && !m.env.timers[0].at.Equal(never)
	if armed {
		c := m.env.timers[0]
		next = Timer{Cmd: c.cmd, Name: c.name, Due: c.at}
	}
	root := m.env.root
	if m.timeUp.IsZero() || root == nil || root.err != nil || m.env.failing || m.Finished() || armed && !m.timeUp.Before(next.Due) {
		return next, armed
	}
	return Timer{Name: "timeout of the run", Due: m.timeUp, limit: m.deadline.Sub(m.env.info.StartAt)}, true
}
