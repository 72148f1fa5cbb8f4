package workflow

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Errors that callers branch on, with errors.Is.
var (
	// ErrCancelled matches what waits return in a cancelled scope, and a *StepError or *ChildError
	// whose cause is a cancellation, however many runs away.
	ErrCancelled = replay.ErrCancelled
	// ErrTimeout matches what waits return when the time of a WithTimeout scope or of the whole run
	// is up, and a *StepError or *ChildError whose cause is a time limit.
	ErrTimeout = replay.ErrTimeout
	// ErrTerminated matches the *ChildError of a child that was terminated.
	ErrTerminated = replay.ErrTerminated
	// ErrKeyExists matches the *ChildError of a child whose key belongs to another run.
	ErrKeyExists = replay.ErrKeyExists
	// ErrLimitFull matches the *ChildError of a child that was refused: as many runs wait for a
	// limit that it needs as the limit's MaxBacklog allows.
	ErrLimitFull = replay.ErrLimitFull
	// ErrRunNotFound matches the *SignalError of a signal to a run that does not exist.
	ErrRunNotFound = replay.ErrRunNotFound
	// ErrRunClosed matches the *SignalError of a signal to a run that is closed.
	ErrRunClosed = replay.ErrRunClosed
	// ErrOutside is returned by a verb that is not called by running workflow code. Verbs without
	// an error panic with it, or end a goroutine that workflow code has started: see Where verbs
	// may be called in the package documentation.
	ErrOutside = replay.ErrOutside
	// ErrReadOnly is returned by a verb that changes the run or waits, where code may only read: in
	// a condition of Await, a query, a validator or a side effect. Verbs without an error panic
	// with it.
	ErrReadOnly = replay.ErrReadOnly
	// ErrPanicking is returned by a verb that waits in a deferred call that a panic of the code
	// made: see Panics in the package documentation.
	ErrPanicking = replay.ErrPanicking
	// ErrInHandler is returned by HandlersFinished in a handler of an update, which would wait for
	// itself.
	ErrInHandler = replay.ErrInHandler
	// ErrChannelClosed is returned for a value that is sent on a closed channel.
	ErrChannelClosed = errors.New("channel is closed")
	// ErrNothing is returned by First, FirstSuccess and Race when they have nothing to wait for.
	ErrNothing = errors.New("nothing to wait for")
	// ErrNotInStep is returned by Heartbeat outside of a step's body.
	ErrNotInStep = errors.New("called outside of a step")
)

// RegisterError makes an error value come back from histories, so that errors.Is finds it behind a
// step, a child, an update or the result of a run, wherever that was executed:
//
//	var ErrSoldOut = errors.New("sold out")
//
//	func init() { workflow.RegisterError("shop.ErrSoldOut", ErrSoldOut) }
//
// An error is stored with the names of the registered values that it matches, by identity or by a
// method Is, as are the errors that it wraps. The name is durable, like that of a workflow: it must
// be registered where the error happens and where it is looked at, and stay so while histories have
// it, because code that branches on the error is replayed. It has to be registered before a node
// runs; package-level init functions are the place. Registering it again is nothing.
//
// It panics if the error is nil, is one that the engine itself makes, such as ErrCancelled, or if
// another error has the name.
func RegisterError(name string, err error) { replay.RegisterError(name, err) }

// RegisterErrorType is RegisterError for all errors of a type, which come back with their details,
// for errors.As:
//
//	type Declined struct{ Code int }
//
//	func (d *Declined) Error() string { return fmt.Sprint("declined: ", d.Code) }
//
//	func init() { workflow.RegisterErrorType[*Declined]("shop.Declined") }
//
// The error is stored as JSON, whatever codec the journal has, with its exported fields, up to 8
// KiB. If that is not possible its text says so, and errors.As does not find it. What it wraps
// should not be one of the fields, since an error in a field has no form in JSON: give it the tag
// json:"-". It is matched all the same if it is registered itself. Of types that are not registered
// StepError.Type has the name.
func RegisterErrorType[E error](name string) { replay.RegisterErrorType[E](name) }

// StepError is the error of a step that failed for good: no attempt is left, or an attempt failed
// with a [Permanent] error. It is the same after a crash and on another node: it has the Go type
// name, the text and the permanence of the step's own error, and wraps what of it is registered,
// see [RegisterError], but not the error value.
type StepError = replay.StepError

// ChildError is the error of a child that did not complete, or could not start. It has the type and
// the text of the child's own error, and wraps what of it is registered, see [RegisterError].
type ChildError = replay.ChildError

// SignalError says why a signal, or a cancel request, did not reach another run.
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

// usageError says what of a verb's arguments can never work, and at which line the verb was called.
// A workflow that returns it is blocked, not failed: the code has to be mended.
type usageError struct {
	err  error
	site callsite.Site
}

func invalid(format string, args ...any) error { return refused(fmt.Errorf(format, args...)) }

// refused adds the line of the verb's call.
func refused(err error) error { return &usageError{err, callsite.Caller()} }

func (e *usageError) Error() string { return e.err.Error() + "," + e.site.At() }

func (e *usageError) Unwrap() error { return e.err }

// Is makes it an ErrInvalid of the journal.
func (e *usageError) Is(target error) bool { return target == journal.ErrInvalid }
