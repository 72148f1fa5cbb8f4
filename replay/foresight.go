package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// UndecidedError says that a machine which runs ahead of its run's history has come to what only
// the owner of the run decides, and has not decided yet.
type UndecidedError struct {
	What  string // such as "side effect ticket"
	Where string // the workflow's call: function (file.go:line)
	Verb  string
}

func (e *UndecidedError) Error() string {
	return e.What + " is not decided yet: the node that works on the run will" + callsite.Site{Where: e.Where, Verb: e.Verb}.At()
}

// foresight is the state of a machine that runs ahead of the history, for somebody who does not own
// the run: see Foresee.
//
// What such a machine shows must come true. Most of what code does follows from what is stored: the
// run's row, its events, and the messages that wait, which the owner will take in their order.
// Three things do not. A value from outside is another one when the owner asks for it, and its
// function may have an effect, so it is not called. Whether the code takes a new branch is decided
// by the code that the owner has. And the time at which the owner takes a message is not known
// before, nor the ids of the children that it starts then, which have the time in them. So code
// that asks for one of these stops a machine that runs ahead, with an UndecidedError.
type foresight struct {
	ahead   bool            // the last event was foreseen
	untimed bool            // and nobody knows its time
	timed   journal.Cmd     // with untimed: the newest command before that, whose time is known
	puzzle  *UndecidedError // the first one since it was last cleared
}

// hasNoTime tells whether a command was asked for at a time that nobody knows yet.
func (f *foresight) hasNoTime(cmd journal.Cmd) bool { return f.untimed && cmd > f.timed }

// undecided stops a machine that runs ahead. It does not return then. In a handler, which must not
// stop a machine, it panics.
func (e *Env) undecided(what string) {
	site := callsite.Caller()
	err := &UndecidedError{What: what, Where: site.Where, Verb: site.Verb}
	if e.foresight.puzzle == nil {
		e.foresight.puzzle = err
	}
	e.Abort(err)
}
