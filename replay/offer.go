package replay

import (
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/internal/coro"
)

// First returns the event with which the code of run's present generation begins. The first
// generation begins when the run's row says, so that its first turn is a function of that row. For
// a later one no row says when, so it begins now.
func (m *Machine) First(run *journal.Run, now time.Time) journal.Event {
	at := run.StartAt
	if run.Continued != nil {
		at = now
	}
	return m.Stamp(journal.Event{Kind: journal.RunStarted}, at)
}

// Offer says what becomes of a message from the run's inbox: the event to give to Step next, or the
// reply that refuses an update, which is no event and consumes the message. It changes nothing, so
// a refusal leaves no trace in the machine.
//
// An answer to a command of an earlier generation answers nothing here, unless this one has the
// command from that: it loses its Cmd, and Step turns it into MessageDropped.
//
// An update is refused if it has no handler, its validator returns an error, or that panics. The
// machine must not be Finished: then the message stays in the inbox.
func (m *Machine) Offer(msg *journal.Message, now time.Time) (ev journal.Event, refusal *journal.Reply) {
	if msg.Kind == journal.MessageUpdate {
		if err := m.CheckUpdate(msg.Name, msg.Payload); err != nil {
			return ev, reject(msg, err)
		}
	}
	ev = msg.Event()
	if msg.Kind.Answers() && msg.Generation != m.env.info.Rewound.Issuer(m.env.info.Generation, msg.Cmd) {
		ev.Cmd = 0
	}
	if now.Before(msg.Time) {
		now = msg.Time
	}
	return m.Stamp(ev, now), nil
}

// reject is the reply to an update that does not become an event. The text and the form of the
// validator's error come from code of the user's, which must harm nobody but the update.
func reject(msg *journal.Message, err error) *journal.Reply {
	var text string
	var cause *journal.Failure
	describe := coro.New(func() { text, cause = err.Error(), FailureOf(err) })
	if _, crash := describe.Resume(); crash != nil {
		err = crashed("the error of the validator of update "+strconv.Quote(msg.Name), crash.Value, crash.PCs, crash.Stack)
		text, cause = err.Error(), FailureOf(err)
	}
	f := &journal.Failure{Type: journal.FailureRejected, Message: text, Permanent: true, Cause: cause}
	return &journal.Reply{Number: msg.Number, Payload: journal.EncodeFailure(f), Rejected: true}
}

// Stamp makes ev the next event: it gets the Seq after the last one, and the time at, or workflow
// time if that is later. Clocks of nodes differ, and a message may have waited; workflow time never
// goes back.
func (m *Machine) Stamp(ev journal.Event, at time.Time) journal.Event {
	if at.Before(m.env.now) {
		at = m.env.now
	}
	ev.Seq, ev.Time = m.env.seq+1, at
	return ev
}
