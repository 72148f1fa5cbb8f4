package replay

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Errors that stop a machine. None of them fails the run: the caller blocks it.
var (
	// ErrRunaway says that the code went on for too long in reaction to one event without coming to rest.
	ErrRunaway = errors.New("workflow code does not come to rest")
	// ErrClosed is returned by a machine after Close.
	ErrClosed = errors.New("machine is closed")
	// ErrFinished refuses a further event after the code has returned. The machine stays as it is.
	ErrFinished = errors.New("workflow code has returned")
	// ErrUnknownKind says that the history holds an event of a newer release.
	ErrUnknownKind = errors.New("event kind is unknown to this release")
	// ErrOrder says that an event does not continue the history: a gap in Seq, or time going backwards.
	ErrOrder = errors.New("event does not continue the history")
)

// Errors that workflow code sees.
var (
	// ErrCancelled is what awaits return in a cancelled scope.
	ErrCancelled = errors.New("cancelled")
	// ErrTimeout is what awaits return after a scope's time is up.
	ErrTimeout = errors.New("timed out")
	// ErrTerminated is what the error of a child is that was closed without running its code.
	ErrTerminated = errors.New("terminated")
	// ErrKeyExists is what the error of a child is whose key belongs to another run.
	ErrKeyExists = errors.New("key exists")
	// ErrRunNotFound is what the error of a signal is to a run that does not exist.
	ErrRunNotFound = errors.New("run not found")
	// ErrRunClosed is what the error of a signal is to a run that is closed.
	ErrRunClosed = errors.New("run is closed")
	// ErrOutside refuses a call that does not come from running workflow code: a foreign
	// goroutine, a step body, or a context that was never given to a workflow.
	ErrOutside = errors.New("called outside of workflow code")
	// ErrReadOnly refuses a call that would change the run or wait, from code that may only look at it.
	ErrReadOnly = errors.New("called by code that may only read")
)

// DivergenceError says that the code did not do what the history says it did.
type DivergenceError struct {
	Seq   journal.Seq // the event at which they part
	Want  string      // what the history says
	Got   string      // what the code did
	Where string      // file:line of the workflow's call; empty if no call made the difference
}

func (e *DivergenceError) Error() string {
	s := fmt.Sprintf("code and history part at event %d: history has %s, code has %s", e.Seq, e.Want, e.Got)
	if e.Where != "" {
		s += " at " + e.Where
	}
	return s
}

// PanicError says that workflow code panicked or ended its goroutine.
type PanicError struct {
	Value any // what was passed to panic; nil for runtime.Goexit
	Stack string
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "workflow code ended its goroutine (runtime.Goexit)"
	}
	return fmt.Sprintf("workflow code panicked: %v", e.Value)
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// DecodeError says that a stored payload does not fit the code's type, or that the codec refused it.
type DecodeError struct {
	What string // which payload
	Err  error
}

func (e *DecodeError) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap returns the codec's error.
func (e *DecodeError) Unwrap() error { return e.Err }
