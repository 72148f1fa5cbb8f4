package journal

import (
	"errors"
	"fmt"
)

// ErrNewer is in the error about a stored number or word that this release does not know: numbers
// and words are only ever added, so a newer release has written it.
var ErrNewer = errors.New("is not known to this release of Reprise: a newer one wrote it")

// ErrDamaged is in the error about a value, or a page, that a database cannot read back. What was
// stored there is lost unless a copy has it.
var ErrDamaged = errors.New("the database is damaged")

// UnreadableError says which stored part of a run this release cannot read, and why.
//
// It is about one run and never about the call that met it: claims, listings and loads return the
// run with what can be read, and the other runs as they are. What could not be read stays in the
// store as it is. So a node of the release that wrote it goes on with the run, and so does every
// node once the row was mended.
type UnreadableError struct {
	Run  RunID
	Part string // "column attempts", "event 3", "message 7"
	Seq  Seq    // of the event; 0 if it is none
	Err  error  // wraps ErrNewer if a newer release wrote the part, ErrDamaged if nobody can read it
}

func (e *UnreadableError) Error() string {
	hint := ""
	if !errors.Is(e.Err, ErrNewer) && !errors.Is(e.Err, ErrDamaged) {
		hint = "; a newer release of Reprise wrote it, or it was changed by hand or damaged"
	}
	return fmt.Sprintf("run %s: %s cannot be read: %v%s", e.Run, e.Part, e.Err, hint)
}

// Unwrap returns the reason.
func (e *UnreadableError) Unwrap() error { return e.Err }
