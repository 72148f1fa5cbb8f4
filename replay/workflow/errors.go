package workflow

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Errors that callers branch on, with errors.Is.
var (
	// ErrCancelled is what waits return in a cancelled scope, and what a cancelled step's error is.
	ErrCancelled = replay.ErrCancelled
	// ErrTimeout is what waits return when a WithTimeout scope is over, and what the error of a
	// step is that ran out of time.
	ErrTimeout = replay.ErrTimeout
	// ErrTerminated is what the error of a child is that was closed without running its code.
	ErrTerminated = replay.ErrTerminated
	// ErrKeyExists is what the error of a child is whose key belongs to another run.
	ErrKeyExists = replay.ErrKeyExists
	// ErrRunNotFound is what the error of a signal is to a run that does not exist.
	ErrRunNotFound = replay.ErrRunNotFound
	// ErrRunClosed is what the error of a signal is to a run that is closed.
	ErrRunClosed = replay.ErrRunClosed
	// ErrOutside refuses a verb that is not called by running workflow code.
	ErrOutside = replay.ErrOutside
	// ErrReadOnly refuses a verb that changes the run or waits, where code may only look at it: in
	// a condition of Await, a query, a validator or a side effect.
	ErrReadOnly = replay.ErrReadOnly
	// ErrPanicking refuses to wait in a deferred call that a panic of the code made, see the
	// package's story.
	ErrPanicking = replay.ErrPanicking
	// ErrInHandler refuses HandlersFinished in a handler of an update, which would wait for itself.
	ErrInHandler = replay.ErrInHandler
	// ErrChannelClosed refuses a value that is sent on a closed channel.
	ErrChannelClosed = errors.New("channel is closed")
	// ErrNothing refuses to wait for the first of nothing.
	ErrNothing = errors.New("nothing to wait for")
	// ErrNotInStep refuses a call that only makes sense in a step's body.
	ErrNotInStep = errors.New("called outside of a step")
)

// StepError is what a step that failed for good returns. It survives replay and process borders: it
// has the Go type name, the text and the permanence of the step's own error.
type StepError = replay.StepError

// ChildError is how a child ended that did not complete, or why it could not start.
type ChildError = replay.ChildError

// SignalError says why a signal did not reach another run.
type SignalError = replay.SignalError

// Permanent marks a step's error as not worth another attempt. It returns nil for nil.
func Permanent(err error) error { return replay.Permanent(err) }

// RetryAfter asks for the next attempt after d instead of the retry policy's delay, for servers
// that say when to come back. It returns nil for nil.
func RetryAfter(err error, d time.Duration) error { return replay.RetryAfter(err, d) }

// SagaError says that compensations of a saga failed for good: somebody has to look.
type SagaError struct {
	Cause    error   // why the saga was undone
	Failures []error // of the compensations, in the order they ran, each a *StepError as a rule
}

func (e *SagaError) Error() string {
	return e.Cause.Error() + "; could not undo: " + errors.Join(e.Failures...).Error()
}

// Unwrap returns the cause, so that a cancelled saga counts as cancelled.
func (e *SagaError) Unwrap() error { return e.Cause }

// JournalFailure keeps the cause and each failed compensation.
func (e *SagaError) JournalFailure() *journal.Failure {
	f := &journal.Failure{Type: journal.FailureUndo, Message: e.Error(), Cause: replay.FailureOf(e.Cause)}
	for _, err := range e.Failures {
		f.Details = append(f.Details, replay.FailureOf(err))
	}
	return f
}
