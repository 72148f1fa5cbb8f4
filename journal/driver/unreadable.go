package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// A store that cannot decode a part of a run says so in the run and returns everything else, so
// that one row never decides what becomes of a call about many (J2). The error of a call is for
// what concerns all of it.
//
//   - What stands in the rows of a run, its task or its terminal event is noted by
//     [NoteUnreadable]. A task is claimed all the same: its owner blocks the run, by a commit that
//     leaves the columns alone, see [NextBlock].
//   - A history ends before the event, an inbox before the message, with History.Err.
//
// What decodes but has a number that this release does not know is found here, once for all stores:
// see [History.check] and noteValues.

// NoteUnreadable says in a run that a column of its rows could not be decoded. The first of several
// is kept.
func NoteUnreadable(run *journal.Run, column string, err error) {
	if err != nil && run.Unreadable == nil {
		run.Unreadable = &journal.UnreadableError{Run: run.ID, Part: "column " + column, Err: err}
	}
}

// NoteUnreadableEnd says it of the terminal event.
func NoteUnreadableEnd(run *journal.Run, seq journal.Seq, err error) {
	if err != nil && run.Unreadable == nil {
		run.Unreadable = UnreadableEvent(run.ID, seq, err)
	}
}

// UnreadableEvent and UnreadableMessage are the errors for History.Err.
func UnreadableEvent(run journal.RunID, seq journal.Seq, err error) *journal.UnreadableError {
	return &journal.UnreadableError{Run: run, Part: fmt.Sprintf("event %d", seq), Seq: seq, Err: err}
}

// UnreadableMessage is UnreadableEvent for a message.
func UnreadableMessage(run journal.RunID, number journal.InboxSeq, err error) *journal.UnreadableError {
	return &journal.UnreadableError{Run: run, Part: fmt.Sprintf("message %d", number), Err: err}
}

// check ends a history before the first event, and an inbox before the first message, whose kind
// this release does not know, or whose numbers nobody has counted. A run with an unreadable row has
// no history that somebody may go on from either.
func (h *History) check() {
	noteValues(&h.Run)
	defer noteTaskValues(&h.Run)
	for i := range h.Events {
		ev := &h.Events[i]
		err := eventNumbers(ev)
		if !ev.Kind.Known() {
			err = unknownKind(ev)
		}
		if err != nil {
			h.Events, h.More, h.Inbox, h.MoreInbox = h.Events[:i], false, nil, false
			h.Err = UnreadableEvent(h.Run.ID, ev.Seq, err)
			return
		}
	}
	for i := range h.Inbox {
		m := &h.Inbox[i]
		err := messageNumbers(m)
		if !m.Kind.Known() {
			err = fmt.Errorf("message kind %d %w", m.Kind, journal.ErrNewer)
		}
		if err != nil {
			h.Inbox, h.MoreInbox = h.Inbox[:i], false
			if h.Err == nil {
				h.Err = UnreadableMessage(h.Run.ID, m.Number, err)
			}
			break
		}
	}
	if h.Err == nil && h.Run.Unreadable != nil {
		h.Err = h.Run.Unreadable
	}
}

// checkListed notes what this release does not know in a run that is listed: numbers of its rows,
// the kind of its terminal event, and one that is missing (J7).
func checkListed(run *journal.Run) {
	noteValues(run)
	noteTaskValues(run)
	switch ev := run.Terminal; {
	case ev == nil && run.Status.Closed() && run.Unreadable == nil:
		run.Unreadable = missingEnd(run.ID)
	case ev != nil && !ev.Kind.Known():
		NoteUnreadableEnd(run, ev.Seq, unknownKind(ev))
	}
}

// missingEnd is the error about a closed run whose terminal event is not there.
func missingEnd(run journal.RunID) *journal.UnreadableError {
	return &journal.UnreadableError{Run: run, Part: "terminal event", Err: fmt.Errorf("%w: the run is closed, and its history has no such event", ErrMalformed)}
}

func unknownKind(ev *journal.Event) error {
	return fmt.Errorf("event kind %d %w", ev.Kind, journal.ErrNewer)
}
