package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// ledger keeps account of what the code asks for in reaction to an event: Step lists it, Replay
// compares it with the list of the first time.
//
// Everything that code asks for passes through issue, at the moment at which it asks, so a
// difference is found in the user's call that makes it and not at the end of the turn. Each entry
// takes the next command number, whether it will have an answer or not. So numbers are the same on
// every replay, and whatever is derived from them (ids of children, idempotency keys, keys of
// messages) is too.
//
// Changes are the exception that makes code replaceable: an entry of kind CommandChange that the
// code does not ask about is passed over, with its number.
type ledger struct {
	sched
	open    openList
	changes Changes // of the whole run

	issued  []journal.Issued // in Step: what was issued so far
	volume  int              // in Step: the bytes of it
	matched int              // in Replay: how many of event.Issued were issued so far

	onlySteps bool // nothing but steps was issued since the last Take
}

// begin starts the account of an event.
func (l *ledger) begin(ev *journal.Event, replaying bool) {
	l.sched.begin(ev, replaying)
	l.matched, l.volume = 0, 0
}

// issue enters a command. It returns false if the machine is dead and no strand runs that could be
// stopped.
func (l *ledger) issue(got journal.Issued) bool {
	if l.readOnly {
		panic(l.refuseReadOnly())
	}
	if l.err != nil {
		return false
	}
	l.spend()
	if got.Kind != journal.CommandStep {
		l.onlySteps = false
	}
	if !l.replaying {
		l.issued = append(l.issued, got)
		return l.weigh(&got)
	}
	want := "nothing more"
	if w := l.expected(); w != nil {
		l.matched++
		if w.Kind == got.Kind && w.Name == got.Name && w.Target == got.Target &&
			(w.Detail == got.Detail || w.Kind == journal.CommandRecord) {
			return true
		}
		want = shown(w)
	}
	l.diverge(want, shown(&got))
	return false
}

// issueUnanswered enters a command that will have no answer. It takes a number all the same.
func (l *ledger) issueUnanswered(got journal.Issued) {
	l.issue(got)
	l.open.add(nil)
}

// weigh stops code that asks for more in reaction to one event than a store keeps of it.
func (l *ledger) weigh(got *journal.Issued) bool {
	if l.volume += len(got.Name) + len(got.Detail); l.volume <= journal.IssuedBytesMax {
		return true
	}
	what := fmt.Sprintf("%s at event %d: all that was asked for there, in bytes,", shown(got), l.event.Seq)
	l.Abort(&journal.LimitError{What: what, Size: l.volume, Max: journal.IssuedBytesMax})
	return false
}

// expected is the command that the history has next, nil for none. Changes that the code no longer
// asks about are passed over, so that they can be taken out of it.
func (l *ledger) expected() *journal.Issued {
	for l.matched < len(l.event.Issued) {
		w := &l.event.Issued[l.matched]
		if w.Kind != journal.CommandChange {
			return w
		}
		l.passOver(w)
	}
	return nil
}

// passOver skips a change that the code did not ask about here. If it asks later, the answer is the
// one that the history was made with.
func (l *ledger) passOver(w *journal.Issued) {
	l.matched++
	l.open.add(nil)
	l.changes.remember(w.Name, true)
}

// diverge makes the machine dead. Called from workflow code it does not return.
func (l *ledger) diverge(want, got string) {
	d := &DivergenceError{Seq: l.event.Seq, Want: want, Got: got}
	if l.running.Load() != nil {
		site := callsite.Caller()
		d.Where, d.Verb = site.Where, site.Verb
	}
	l.Abort(d)
}

// shown is a command for people. The value of a record is left out: it may be long, or secret.
func shown(i *journal.Issued) string {
	line := *i
	if line.Kind == journal.CommandRecord {
		line.Detail = ""
	}
	return strings.Replace(line.String(), "\t", " ", 1)
}

// describe is an event for people.
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
