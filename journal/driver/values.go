package driver

import (
	"cmp"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// noteValues notes numbers in the rows of a run and its task that decode and mean nothing here:
// code above indexes, compares and computes with them. A row of which only a part was read has no
// workflow, and is passed over.
//
// A number of the task is told and keeps nobody from reading the history: it says who may claim the
// task, which the store has decided already. Its owner must not block the run for it, because a
// block writes over the number.
func noteValues(run *journal.Run) {
	if run.Workflow == "" {
		return
	}
	NoteUnreadable(run, "priority", within(int64(run.Priority), journal.PriorityMin, journal.PriorityMax))
	NoteUnreadable(run, "status", within(int64(run.Status), int64(journal.Open), int64(journal.Terminated)))
	NoteUnreadable(run, "timeout", within(int64(run.Timeout), 0, int64(journal.DelayMax)))
	NoteUnreadable(run, "version", natural(run.Version))
	NoteUnreadable(run, "generation", natural(run.Generation))
	if p := run.Parent; p != nil {
		NoteUnreadable(run, "parent_policy", within(int64(p.Policy), int64(journal.CloseCancel), int64(journal.CloseAbandon)))
		NoteUnreadable(run, "parent_generation", natural(p.Generation))
		NoteUnreadable(run, "parent_cmd", natural(p.Cmd))
	}
	if c := run.Continued; c != nil {
		NoteUnreadable(run, "inbox_seen", natural(c.Seen))
		for _, n := range c.Carried {
			NoteUnreadable(run, "carried", natural(n))
		}
	}
}

// DecodeTimeout returns the time of a run, of which rows keep the microseconds. The error is
// [ErrMalformed] about what no start has written, and could be a time within the limits once the
// multiplication has gone over its end.
func DecodeTimeout(micros int64) (time.Duration, error) {
	if micros < 0 || micros > journal.DelayMax.Microseconds() {
		return 0, fmt.Errorf("%w: %d microseconds are not between 0 and %s", ErrMalformed, micros, journal.DelayMax)
	}
	return time.Duration(micros) * time.Microsecond, nil
}

// noteTaskValues is noteValues for the task, for readers.
func noteTaskValues(run *journal.Run) {
	if t := run.Task; t != nil && run.Workflow != "" {
		NoteUnreadable(run, "state of its task", within(int64(t.State), int64(journal.Limited), int64(journal.Interrupting)))
		NoteUnreadable(run, "priority of its task", within(int64(t.Priority), journal.PriorityMin, journal.PriorityMax))
		NoteUnreadable(run, "generation of its task", natural(t.Generation))
		NoteUnreadable(run, "turn of its task", natural(t.Turn))
		NoteUnreadable(run, "inbox_last of its task", natural(t.InboxLast))
		NoteUnreadable(run, "strikes of its task", natural(t.Strikes))
	}
}

// eventNumbers and messageNumbers return an error about what the code above looks for by number.
func eventNumbers(ev *journal.Event) error {
	return cmp.Or(natural(ev.Cmd), natural(ev.Inbox), natural(ev.Attempt))
}

func messageNumbers(m *journal.Message) error { return cmp.Or(natural(m.Cmd), natural(m.Generation)) }

// within returns an error about a number that is none of those from low to high. Numbers are added
// at the upper end, so what is above was written by a newer release.
func within(n, low, high int64) error {
	switch {
	case n > high:
		return fmt.Errorf("%d %w", n, journal.ErrNewer)
	case n < low:
		return fmt.Errorf("%w: %d is not between %d and %d", ErrMalformed, n, low, high)
	}
	return nil
}
