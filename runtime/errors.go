package runtime

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/replica"
)

// Errors that callers branch on, beside those of package journal.
var (
	// ErrRunning is returned by [Node.Run] while the node runs already.
	ErrRunning = errors.New("node already runs")
	// ErrNoWorkflow is returned by [Node.Run] of a node with which no workflow is registered: it
	// could execute nothing. A program that only starts runs and talks to them needs a client.
	ErrNoWorkflow = errors.New("no workflow is registered with the node: call Handle before Run")
	// ErrRejected matches the *[UpdateError] of an update that changed nothing: its validator
	// refused it, or the run has no handler for it. The run's history holds no trace of it.
	ErrRejected = errors.New("rejected")
	// ErrAborted matches the *[UpdateError] of an update that was accepted, and whose run continued
	// as new before its handler had answered: it may have had effects. It is not handled again, and
	// a call with the same key gets the same error.
	ErrAborted = errors.New("aborted")
	// ErrBlocked matches the error of an update whose run cannot continue for now: its code does
	// not fit its history, it panicked, or it is quarantined. What was sent to the run waits until
	// it continues. It matches the error of [Run.Result] too if the time for that was up meanwhile.
	ErrBlocked = errors.New("run is blocked")
	// ErrPaused matches the error of an update with UpdateOptions.RefusePaused to a run that is
	// paused, or whose queue or workflow is. Nothing was sent. Its text says who has paused it,
	// since when and why.
	ErrPaused = errors.New("run is paused")
	// ErrNotRegistered matches the error of a query that was asked of a node without the run's
	// code.
	ErrNotRegistered = errors.New("workflow is not registered on this node")
	// ErrUnproven matches the error of a verb that takes events back, and was given neither a node
	// that has the code, to prove that those before them fit it, nor the word that this is not
	// wanted.
	ErrUnproven = errors.New("nothing proves that the kept events fit the code: give a node that has it as Proof, or say Unproven")
	// ErrStuck matches the error of a query whose handler, or the replay before it, has not
	// returned. The handler waits or computes without end, which code in a workflow must not.
	ErrStuck = replica.ErrStuck
)

// BehindError stands beside the answer of a [Query] of a run whose history the code does not fit,
// such as one that is blocked. The answer is that of the handler as of event Seq, the last one that
// the code fits, and is of a state that the run was in: its code has gone on since. Err says why
// the code does not fit.
type BehindError struct {
	Seq journal.Seq // the last event that the code fits: the answer is as of this one
	Err error       // a *replay.DivergenceError, *replay.PanicError or *replay.DecodeError
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("the answer is as of event %d, the last that the code fits: %v", e.Seq, e.Err)
}

// Unwrap returns why the code does not fit.
func (e *BehindError) Unwrap() error { return e.Err }

// FailedError is the result of a run whose workflow returned an error. It wraps what of that error
// is registered, see workflow.RegisterError; of the rest, which happened in another process,
// Failure holds the type, the message and the causes. It matches workflow.ErrTimeout if a time
// limit is among these: that of the run, of a scope, or of a step.
type FailedError struct {
	Run     journal.RunID
	Failure *journal.Failure
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("run %s failed: %s", e.Run, e.Failure.Summary())
}

// Unwrap returns the registered errors that the workflow's error was, or wrapped.
func (e *FailedError) Unwrap() []error { return replay.Restored(e.Failure) }

// Is makes a FailedError match workflow.ErrTimeout.
func (e *FailedError) Is(target error) bool {
	return target == workflow.ErrTimeout && replay.TimedOut(e.Failure)
}

// CancelledError is the result of a run that was cancelled. It matches workflow.ErrCancelled.
// Failure.Message is the reason that was given to [Client.Cancel].
type CancelledError struct {
	Run     journal.RunID
	Failure *journal.Failure
}

func (e *CancelledError) Error() string {
	return fmt.Sprintf("run %s was cancelled: %s", e.Run, e.Failure.Message)
}

// Unwrap returns the registered errors that the workflow's error wrapped beside the cancellation.
func (e *CancelledError) Unwrap() []error { return replay.Restored(e.Failure) }

// Is makes a CancelledError match workflow.ErrCancelled.
func (e *CancelledError) Is(target error) bool { return target == workflow.ErrCancelled }

// TerminatedError is the result of a run that was closed without running its code: by
// [Client.Terminate], or by the close policy of its parent.
type TerminatedError struct {
	Run    journal.RunID
	Reason string // as Terminate was given it
}

func (e *TerminatedError) Error() string {
	return fmt.Sprintf("run %s was terminated: %s", e.Run, e.Reason)
}

// UpdateError is the answer to an update whose handler returned an error, or that was rejected. It
// matches [ErrRejected] if it was rejected, [ErrAborted] if its run continued as new before it was
// answered, and workflow.ErrCancelled if its handler was cancelled.
type UpdateError struct {
	Run      journal.RunID
	Update   string
	Failure  *journal.Failure // the handler's error; of a rejected update, Message says why
	Rejected bool
}

func (e *UpdateError) Error() string {
	if e.Rejected {
		return fmt.Sprintf("update %s of run %s was rejected: %s", e.Update, e.Run, e.Failure.Message)
	}
	if e.Failure.Type == journal.FailureAborted {
		return fmt.Sprintf("update %s of run %s was aborted: %s", e.Update, e.Run, e.Failure.Message)
	}
	return fmt.Sprintf("update %s of run %s failed: %s", e.Update, e.Run, e.Failure.Summary())
}

// Unwrap returns the registered errors that the error of the handler, or of the validator, was or
// wrapped.
func (e *UpdateError) Unwrap() []error { return replay.Restored(e.Failure) }

// Is makes a rejected UpdateError match ErrRejected, an aborted one ErrAborted, and a cancelled one
// workflow.ErrCancelled.
func (e *UpdateError) Is(target error) bool {
	switch target {
	case ErrRejected:
		return e.Rejected
	case ErrAborted:
		return !e.Rejected && e.Failure.Type == journal.FailureAborted
	case workflow.ErrCancelled:
		return !e.Rejected && e.Failure.Type == journal.FailureCancelled
	}
	return false
}

// unanswered is why an update of a run gets no answer any more, because the run is closed, or none
// for now, because it is blocked. It returns nil if the answer is still to come.
func unanswered(run *journal.Run) error {
	if !run.Status.Closed() {
		t := run.Task
		if t != nil && t.State.OnHold() {
			return fmt.Errorf("run %s is %s; Client.Why says by whom and why", run.ID, t.State)
		}
		if t != nil && t.State > journal.Ready {
			return fmt.Errorf("run %s is %s: %w: %s", run.ID, t.State, ErrBlocked, t.Problem)
		}
		return nil
	}
	if run.Terminal == nil {
		return fmt.Errorf("%w, %s: it is %s", journal.ErrClosed, noAnswer, run.Status)
	}
	if how := resultError(run.ID, run.Terminal); how != nil {
		return fmt.Errorf("%w, %s: %w", journal.ErrClosed, noAnswer, how)
	}
	return fmt.Errorf("%w, %s: it has completed", journal.ErrClosed, noAnswer)
}

// noAnswer says what is known of an update of a closed run: the reply to one that was refused would
// be there.
const noAnswer = "without an answer; if the update was accepted, it may have had effects"

// resultError returns the error that a terminal event stands for, nil for a completed run.
func resultError(run journal.RunID, terminal *journal.Event) error {
	if terminal.Kind == journal.RunCompleted {
		return nil
	}
	if !terminal.Kind.Known() {
		return fmt.Errorf("result of run %s: event kind %d %w", run, terminal.Kind, journal.ErrNewer)
	}
	f, err := journal.DecodeFailure(terminal.Payload)
	if err != nil {
		return fmt.Errorf("result of run %s: %w", run, err)
	}
	switch terminal.Kind {
	case journal.RunCancelled:
		return &CancelledError{Run: run, Failure: f}
	case journal.RunTerminated:
		return &TerminatedError{Run: run, Reason: f.Message}
	}
	return &FailedError{Run: run, Failure: f}
}
