package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Errors that stop a machine. None of them fails the run: the driver blocks it, and it goes on when
// the code or the release that fits is deployed.
var (
	// ErrRunaway says that the code went on for too long in reaction to one event without waiting.
	ErrRunaway = errors.New("workflow code does not come to rest")
	// ErrClosed is returned by a machine after Close.
	ErrClosed = errors.New("machine is closed")
	// ErrFinished refuses a further event after the code has returned. The machine stays as it is.
	ErrFinished = errors.New("workflow code has returned")
	// ErrUnknownKind says that the history holds an event of a newer release.
	ErrUnknownKind = errors.New("event kind is unknown to this release")
	// ErrOrder says that an event does not continue the history: a gap in Seq, or time going back.
	ErrOrder = errors.New("event does not continue the history")
)

// Errors that workflow code sees. Match them with errors.Is.
var (
	// ErrCancelled matches what waits return in a cancelled scope, and a *StepError or *ChildError
	// whose cause is a cancellation.
	ErrCancelled = errors.New("cancelled")
	// ErrTimeout matches what waits return after a scope's or the run's time is up, and a
	// *StepError or *ChildError whose cause is a time limit.
	ErrTimeout = errors.New("timed out")
	// ErrTerminated matches the *ChildError of a child that was terminated.
	ErrTerminated = errors.New("terminated")
	// ErrKeyExists matches the *ChildError of a child whose key belongs to another run.
	ErrKeyExists = errors.New("key exists")
	// ErrLimitFull matches the *ChildError of a child that was refused: as many runs wait for a
	// limit that it needs as the limit's MaxBacklog allows.
	ErrLimitFull = errors.New("limit is full")
	// ErrRunNotFound matches the *SignalError of a signal to a run that does not exist.
	ErrRunNotFound = errors.New("run not found")
	// ErrRunClosed matches the *SignalError of a signal to a run that is closed.
	ErrRunClosed = errors.New("run is closed")
	// ErrOutside refuses a call that does not come from running workflow code: a foreign goroutine,
	// a step body, or a context that was never given to a workflow. A machine that refused a
	// foreign goroutine is dead from its next look on.
	ErrOutside = errors.New("called outside of workflow code")
	// ErrReadOnly refuses a call that would change the run or wait, from code that may only read.
	ErrReadOnly = errors.New("called by code that may only read")
	// ErrPanicking refuses to wait in a deferred call that a panic or Goexit of the code made, even
	// if the call has recovered. Nothing of the turn is kept.
	ErrPanicking = errors.New("workflow code that panics, or has just recovered, waits in a deferred call")
	// ErrInHandler refuses to wait for all handlers of updates in one of them, which would wait for
	// itself.
	ErrInHandler = errors.New("a handler of an update waits for all handlers: it would wait for itself")
)

// The errors that types of failures stand for. Those of passing mean the same however many causes
// they are away; the others are about the one child or the one signal.
var (
	passing = map[string]error{
		journal.FailureCancelled: ErrCancelled, journal.FailureTimeout: ErrTimeout, journal.FailureHeartbeat: ErrTimeout,
	}
	childOnly = map[string]error{journal.FailureTerminate: ErrTerminated, journal.FailureKeyExists: ErrKeyExists,
		journal.FailureLimitFull: ErrLimitFull}
	signalOnly = map[string]error{journal.FailureNotFound: ErrRunNotFound, journal.FailureClosed: ErrRunClosed}
)

// LinkError says that an event is not the one that was written after the event before it: the
// history was changed in the store, or parts of two histories are mixed.
type LinkError struct {
	Seq  journal.Seq
	Kind journal.Kind
	Link journal.Link // as stored
	Want journal.Link // as follows from the events up to this one
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("event %d (%s) has the link %x, and the stored events up to it give %x: this history is not the one "+
		"that was written. Restore its events, or terminate the run", e.Seq, e.Kind, uint64(e.Link), uint64(e.Want))
}

// DivergenceError says that the code did not do what the history says it did.
type DivergenceError struct {
	Seq   journal.Seq // the event at which they part
	Want  string      // what the history says
	Got   string      // what the code did
	Where string      // the workflow's call: function (file.go:line); empty if no call made the difference
	Verb  string      // what is called there, such as workflow.Step; empty if that is not known
}

func (e *DivergenceError) Error() string {
	return fmt.Sprintf("code and history differ at event %d: history has %s, code has %s%s; %s",
		e.Seq, e.Want, e.Got, callsite.Site{Where: e.Where, Verb: e.Verb}.At(), divergenceHow)
}

// divergenceHow has the causes of a divergence, the common one first, each with what to do.
const divergenceHow = "if this node or another one has executed the run with other code, keep what that did under " +
	"workflow.Changed or as another version; if not, the code depends on more than its history, such as map order or time.Now"

// PanicError says that user code panicked or ended its goroutine.
type PanicError struct {
	What  string // what panicked: empty for workflow code, or "query" and the name, for example
	Value any    // what was passed to panic; nil for runtime.Goexit
	Where string // the innermost line of user code: function (file.go:line); empty if there is none
	Verb  string // what is called there, if it was a verb that panicked
	Stack string
}

// crashed describes user code that did not return. pcs and stack are those of the deferred function
// that saw it.
func crashed(what string, value any, pcs []uintptr, stack []byte) *PanicError {
	site := callsite.Of(pcs)
	return &PanicError{What: what, Value: value, Where: site.Where, Verb: site.Verb, Stack: string(stack)}
}

func (e *PanicError) Error() string {
	what, value := e.What, ""
	if what == "" {
		what = "workflow code"
	}
	if e.Value == nil {
		what += " ended its goroutine (runtime.Goexit)"
	} else if value = fmt.Sprint(e.Value); len(value) > panicTextMax {
		value = strings.ToValidUTF8(value[:panicTextMax], "") + "…"
	}
	if value != "" {
		what += " panicked: " + value
	}
	if _, placed := e.Value.(*readOnlyError); placed { // its text has the line
		return what
	}
	return what + callsite.Site{Where: e.Where, Verb: e.Verb}.At()
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// readOnlyError is ErrReadOnly with the line of the call.
type readOnlyError struct {
	by *sched
	callsite.Site
}

func (e *readOnlyError) Error() string {
	s := ErrReadOnly.Error()
	if e.Verb != "" {
		s = e.Verb + " " + s
	}
	return s + callsite.Site{Where: e.Where}.At()
}

func (e *readOnlyError) Unwrap() error { return ErrReadOnly }

// DecodeError says that a stored payload does not fit the code's type, or that the codec refused
// it.
type DecodeError struct {
	What string // which payload
	Err  error
}

func (e *DecodeError) Error() string {
	return e.What + ": " + e.Err.Error() + "; another program or version wrote it: deploy code with a type that it fits"
}

// Unwrap returns the codec's error.
func (e *DecodeError) Unwrap() error { return e.Err }
