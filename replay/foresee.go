package replay

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// ForeseeFirst applies the event with which the run's code begins, before the owner has stored it.
// The first turn of a run is a function of its row. Of a later generation the time is not known.
func ForeseeFirst(m *Machine, run *journal.Run, now time.Time) error {
	return foresee(m, m.First(run, now), run.Continued != nil)
}

// Foresee does what the owner will do next: it fires a timer that was due when the message came, or
// makes the message an event, or refuses it. taken tells that it was the message's turn. The
// machine must not be Finished.
//
// A timer that a foreseen event armed never comes before a message that waits: the owner will arm
// it later than the message came.
//
// It returns an *UndecidedError if nobody knows yet what the owner will do. After an error the
// machine is of no more use.
func Foresee(m *Machine, msg *journal.Message, now time.Time) (taken bool, err error) {
	f := &m.env.foresight
	f.puzzle = nil
	if t, armed := m.NextTimer(); armed && !t.Due.After(msg.Time) && !f.hasNoTime(t.Cmd) {
		return false, foresee(m, m.Stamp(t.Event(), now), true)
	}
	ev, refusal := m.Offer(msg, now)
	if f.puzzle != nil { // its validator asked
		return true, f.puzzle
	}
	if refusal != nil {
		return true, nil
	}
	return true, foresee(m, ev, true)
}

func foresee(m *Machine, ev journal.Event, untimed bool) error {
	f := &m.env.foresight
	if !f.untimed {
		f.timed = m.env.open.last
	}
	f.ahead, f.untimed = true, f.untimed || untimed
	err := m.Step(&ev)
	m.Take()
	return err
}

// Successor returns, of a machine that has foreseen a continue-as-new, the run as its next
// generation begins, and the messages that are carried over. It is false for any other machine.
func Successor(m *Machine, run *journal.Run) (next journal.Run, carried []journal.Message, ok bool) {
	if m.next == nil || m.sealed {
		return journal.Run{}, nil, false
	}
	next = *run
	next.Generation++
	next.Version, next.Input, next.Continued, next.Rewound = m.next.Version, m.next.Input, m.next, nil
	return next, m.carried, true
}
