package workflow

import "github.com/reprise-run/reprise/replay"

// Publish shows a value to whoever asks for it under the name, without the workflow's code:
// progress, for example. runtime.Published reads it, and listings and descriptions of the run have
// it.
//
//	workflow.Publish(ctx, "progress", Progress{Done: i, Of: n})
//
// The newest value of each name is kept with the run, through [ContinueAsNew] and after the end. It
// is stored by the commit of the turn, together with what the code asks for, so it is a state that
// the run has been in. It is no part of the history: code cannot read it back, and may begin or
// cease to publish while runs are open. A value that is published often costs a write each time, so
// tell progress in steps that matter.
//
// A run has at most journal.PublishedMax names, and journal.PublishedBytesMax bytes of names and
// values together: a run that exceeds that, or whose value cannot be encoded, is blocked. Publish
// panics if the name is not valid.
func Publish[T any](ctx Context, name string, value T) {
	e := ctx.env()
	if err := checkName("published value", name); err != nil {
		panic(err)
	}
	p, err := e.Encoder().Encode("published value "+name, value)
	if err != nil {
		e.Abort(&replay.EncodeError{Err: err})
	}
	e.Publish(name, p)
}
