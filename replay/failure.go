package replay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Permanent marks an error as not worth another attempt.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

// RetryAfter asks for the next attempt of a step after d, instead of the policy's delay.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfter{err, d}
}

// permanent and retryAfter add a property to an error without changing what it is: FailureOf sees
// through them.
type (
	permanent  struct{ error }
	retryAfter struct {
		error
		d time.Duration
	}
)

func (e *permanent) Unwrap() error              { return e.error }
func (e *permanent) Permanent() bool            { return true }
func (e *retryAfter) Unwrap() error             { return e.error }
func (e *retryAfter) RetryAfter() time.Duration { return e.d }

// StepError is the error of a step that failed for good.
type StepError struct {
	Step     string
	Attempts int
	Failure  *journal.Failure
	scope    error // why the step was asked to stop, if it was
}

func (e *StepError) Error() string {
	return fmt.Sprintf("step %s: %s", e.Step, e.Failure.Message)
}

// Unwrap returns the registered errors that the step's error is, or wraps.
func (e *StepError) Unwrap() []error { return Restored(e.Failure) }

// Is matches ErrCancelled and ErrTimeout by the failure's type and its causes. A step that stopped
// because its scope's time was up is both.
func (e *StepError) Is(target error) bool { return failureIs(e.Failure, e.scope, target) }

// Type is the Go type of the step's error, or of the first of its causes that is more than a text,
// or one of the journal's Failure… constants.
func (e *StepError) Type() string { return e.Failure.Type }

// Message is the text of the step's error.
func (e *StepError) Message() string { return e.Failure.Message }

// Permanent tells whether the step said that no further attempt would help.
func (e *StepError) Permanent() bool { return e.Failure.Permanent }

// JournalFailure keeps the step's own failure when the error is passed on, with the step's name:
// the failure of the run says where it began.
func (e *StepError) JournalFailure() *journal.Failure {
	f := *e.Failure
	if f.Step == "" {
		f.Step = e.Step
	}
	return &f
}

// ChildError is the error of a child that did not complete, or could not start.
type ChildError struct {
	Workflow string
	Run      journal.RunID
	Failure  *journal.Failure
	scope    error // why the child was asked to stop, if it was
}

func (e *ChildError) Error() string {
	return fmt.Sprintf("child %s: %s", e.Workflow, e.Failure.Message)
}

// Unwrap returns the registered errors that the child's error is, or wraps.
func (e *ChildError) Unwrap() []error { return Restored(e.Failure) }

// Is matches ErrCancelled and ErrTimeout by the failure's type and its causes. ErrTerminated,
// ErrKeyExists and ErrLimitFull are about this child alone: one that failed because its own child
// was terminated, or was refused, is none of them.
func (e *ChildError) Is(target error) bool {
	return failureIs(e.Failure, e.scope, target) || target != nil && childOnly[e.Failure.Type] == target
}

// Type is the type of the child's error, see [StepError.Type].
func (e *ChildError) Type() string { return e.Failure.Type }

// Message is the text of the child's error.
func (e *ChildError) Message() string { return e.Failure.Message }

// JournalFailure keeps the child's own failure when the error is passed on. What is about this
// child alone becomes a cause: it is not about whoever passes it on.
func (e *ChildError) JournalFailure() *journal.Failure {
	if childOnly[e.Failure.Type] == nil {
		return e.Failure
	}
	return passedOn(e, e.Failure)
}

// SignalError says why a signal did not reach another run.
type SignalError struct {
	Signal  string // empty for a cancel request
	Run     journal.RunID
	Failure *journal.Failure
}

func (e *SignalError) Error() string {
	if e.Signal == "" {
		return "cancel request to " + e.Failure.Message
	}
	return fmt.Sprintf("signal %s to %s", e.Signal, e.Failure.Message)
}

// Is matches ErrRunNotFound and ErrRunClosed.
func (e *SignalError) Is(target error) bool {
	return target != nil && signalOnly[e.Failure.Type] == target
}

// JournalFailure keeps the failure, as a cause, when the error is passed on.
func (e *SignalError) JournalFailure() *journal.Failure { return passedOn(e, e.Failure) }

// passedOn is the failure of a run that fails because of a fact about one child or one signal. If
// it kept the type, the parent of this run would read that this run's key was taken, for example.
func passedOn(err error, cause *journal.Failure) *journal.Failure {
	return &journal.Failure{Type: fmt.Sprintf("%T", err), Message: err.Error(), Permanent: cause.Permanent, Cause: cause}
}

// failureIs matches an error by the types of a failure and what it wraps. What stopped because its
// scope's time was up is both cancelled and timed out.
func failureIs(f *journal.Failure, scope, target error) bool {
	if stands(f, target) {
		return true
	}
	return scope != nil && errors.Is(scope, target) && stands(f, ErrCancelled)
}

// TimedOut tells whether a time limit is why something failed: its own, or that of a cause.
func TimedOut(f *journal.Failure) bool { return stands(f, ErrTimeout) }

// stands is errors.Is for a stored failure: it looks at its type, its causes and joined details.
// It does not look at compensations that failed: they are not why a saga ended.
func stands(f *journal.Failure, target error) bool {
	for ; f != nil; f = f.Cause {
		if err := passing[f.Type]; err != nil && err == target {
			return true
		}
		if f.Type == journal.FailureUndo {
			continue
		}
		for _, joined := range f.Details {
			if stands(joined, target) {
				return true
			}
		}
	}
	return false
}

// EncodeError says that an output could not be encoded or is too large. Another attempt would not
// help.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return e.Err.Error() }

// Unwrap returns the codec's error or the limit that was exceeded.
func (e *EncodeError) Unwrap() error { return e.Err }

// JournalFailure is a permanent failure of type FailureEncode.
func (e *EncodeError) JournalFailure() *journal.Failure {
	return &journal.Failure{Type: journal.FailureEncode, Message: e.Err.Error(), Permanent: true}
}

// FailureOf turns an error into the form that histories keep: its Go type, or that of what a plain
// wrapper wraps, text, causes and joined errors, what of it is registered, whether it is permanent
// (a method Permanent() bool anywhere in its chain) and when to try again (a method RetryAfter()
// time.Duration). An error with a method JournalFailure() *journal.Failure, such as StepError,
// brings its own form. It returns nil for nil.
func FailureOf(err error) *journal.Failure {
	if err == nil {
		return nil
	}
	left := failuresMax
	f := pruned(failureOf(err, causesMax), &left)
	var p interface{ Permanent() bool }
	if errors.As(err, &p) && p.Permanent() {
		f.Permanent = true
	}
	var r interface{ RetryAfter() time.Duration }
	if errors.As(err, &r) {
		f.RetryIn = max(r.RetryAfter(), 0)
	}
	return f
}

// failureOf is FailureOf without what is collected over the whole chain. depth bounds the causes
// below each other.
func failureOf(err error, depth int) *journal.Failure {
	switch e := err.(type) {
	case *permanent:
		return failureOf(e.error, depth)
	case *retryAfter:
		return failureOf(e.error, depth)
	case *PanicError:
		return &journal.Failure{Type: journal.FailurePanic, Message: e.Error(), Stack: e.Stack}
	case interface{ JournalFailure() *journal.Failure }:
		if f := e.JournalFailure(); f != nil {
			return f
		}
	}
	f := &journal.Failure{Type: fmt.Sprintf("%T", err), Message: err.Error()}
	if s, ok := err.(*scopeError); ok {
		f.Type, f.Message = s.failureType(), s.Error()
		return f
	}
	switch err {
	case ErrCancelled:
		f.Type = journal.FailureCancelled
	case ErrTimeout:
		f.Type = journal.FailureTimeout
	}
	if depth > 1 {
		addCauses(f, err, depth-1)
	}
	nameWrapper(f)
	registered.Load().describe(f, err)
	return f
}

// nameWrapper gives a failure whose type says nothing, as fmt.Errorf and errors.Join make it, the
// first type of a cause that says something. A type of the engine stays with its cause: it may be
// about that one alone.
func nameWrapper(f *journal.Failure) {
	if !f.Plain() {
		return
	}
	for _, cause := range append([]*journal.Failure{f.Cause}, f.Details...) {
		if cause != nil && !cause.Plain() && !strings.HasPrefix(cause.Type, journal.FailurePrefix) {
			f.Type = cause.Type
			return
		}
	}
}

// addCauses follows the two forms of Unwrap: one cause, or several joined errors.
func addCauses(f *journal.Failure, err error, depth int) {
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		if cause := u.Unwrap(); cause != nil {
			f.Cause = failureOf(cause, depth)
		}
	case interface{ Unwrap() []error }:
		for _, joined := range u.Unwrap() {
			if joined != nil {
				f.Details = append(f.Details, failureOf(joined, depth))
			}
		}
	}
}

// pruned copies a failure up to a number of causes and details. It copies because an error's
// JournalFailure may return its own.
func pruned(f *journal.Failure, left *int) *journal.Failure {
	if f == nil || *left == 0 {
		return nil
	}
	*left--
	c := *f
	c.Cause = pruned(f.Cause, left)
	c.Details = nil
	for _, d := range f.Details {
		if d = pruned(d, left); d != nil {
			c.Details = append(c.Details, d)
		}
	}
	return &c
}
