package driver

import (
	"time"
)

// NextKind is what becomes of a task.
type NextKind int16

// The next states of a task.
const (
	NextKeep    NextKind = iota // the node goes on owning it
	NextPark                    // free, visible at Next.At (zero: only for a message)
	NextRelease                 // free, visible now
	NextBlock                   // free, Blocked for Next.Problem, visible at Next.At; attempts stay, see Commit
	NextClose                   // the task is deleted; the last event is terminal
)

// Next is the state of the task after a commit. Whatever it says, a task whose inbox has a message
// that the commit has not seen becomes visible (J6): the message may have arrived while the commit
// was on its way, and nobody else would wake the run. A blocked task is the exception, since no
// message makes its code fit its history.
type Next struct {
	Kind    NextKind
	At      time.Time // store's clock
	Problem string
}
