package replay

import (
	"sync/atomic"

	"github.com/reprise-run/reprise/internal/callsite"
)

// outsideError is ErrOutside with the line of the call.
type outsideError struct{ callsite.Site }

func (e *outsideError) Error() string {
	s := ErrOutside.Error()
	if e.Verb != "" {
		s = e.Verb + " was " + s
	}
	return s + callsite.Site{Where: e.Where}.At() +
		": a goroutine or a step's body cannot use its run; use workflow.Go or an Async verb instead of a go statement"
}

func (e *outsideError) Unwrap() error { return ErrOutside }

// Permanent ends a step whose body returns the error: another attempt would call the verb again,
// and the machine looks at the call only when the step has ended.
func (e *outsideError) Permanent() bool { return true }

// intruder keeps the first call of a verb that did not come from running workflow code. Code that
// starts goroutines does other things when it is replayed, so nothing of the present turn, or of
// the next one, may be written: the machine looks here after each strand and before each event.
type intruder struct{ first atomic.Pointer[outsideError] }

// refuse returns the answer to such a call. It touches nothing that belongs to strands.
func (i *intruder) refuse() error {
	err := &outsideError{callsite.Caller()}
	i.first.CompareAndSwap(nil, err)
	return err
}

// err is the first call's error, nil for none.
func (i *intruder) err() error {
	if first := i.first.Load(); first != nil {
		return first
	}
	return nil
}
