package runtime

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Errors that callers branch on, beside those of package journal.
var (
	// ErrRunning is returned by Node.Run when the node already runs.
	ErrRunning = errors.New("node already runs")
	// ErrRejected is what the error of an update is that was refused before it changed anything: by its validator, or because
	// the run has no handler of it.
	ErrRejected = errors.New("rejected")
	// ErrBlocked says that a run cannot go on for now. What was sent to it waits.
	ErrBlocked = errors.New("run is blocked")
	// ErrNotRegistered says that the node does not have the code of a run.
	ErrNotRegistered = errors.New("workflow is not registered here")
)

// FailedError is the result of a run whose workflow returned an error.
type FailedError struct {
	Run     journal.RunID
	Failure *journal.Failure
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("run %s failed: %s: %s", e.Run, e.Failure.Type, e.Failure.Message)
}

// CancelledError is the result of a run that was cancelled. It is a workflow.ErrCancelled.
type CancelledError struct {
	Run     journal.RunID
	Failure *journal.Failure
}

func (e *CancelledError) Error() string {
	return fmt.Sprintf("run %s was cancelled: %s", e.Run, e.Failure.Message)
}

// Is makes a CancelledError a workflow.ErrCancelled.
func (e *CancelledError) Is(target error) bool { return target == workflow.ErrCancelled }

// TerminatedError is the result of a run that an operator terminated.
type TerminatedError struct {
	Run    journal.RunID
	Reason string
}

func (e *TerminatedError) Error() string {
	return fmt.Sprintf("run %s was terminated: %s", e.Run, e.Reason)
}

// UpdateError is the answer to an update whose handler returned an error, or that was rejected: it is an ErrRejected then. It is a
// workflow.ErrCancelled if the handler was cancelled.
type UpdateError struct {
	Run      journal.RunID
	Update   string
	Failure  *journal.Failure // of a rejected update: Message is why
	Rejected bool
}

func (e *UpdateError) Error() string {
	if e.Rejected {
		return fmt.Sprintf("update %s of run %s was rejected: %s", e.Update, e.Run, e.Failure.Message)
	}
	return fmt.Sprintf("update %s of run %s failed: %s: %s", e.Update, e.Run, e.Failure.Type, e.Failure.Message)
}

// Is makes a rejected UpdateError an ErrRejected and a cancelled one a workflow.ErrCancelled.
func (e *UpdateError) Is(target error) bool {
	return target == ErrRejected && e.Rejected ||
		target == workflow.ErrCancelled && !e.Rejected && e.Failure.Type == journal.FailureCancelled
}

// unanswered is why an update of a run gets no answer any more, because the run is closed, or none for now, because it
// is blocked. It returns nil if the answer is still to come.
func unanswered(run *journal.Run) error {
	if !run.Status.Closed() {
		if t := run.Task; t != nil && t.State != journal.Ready {
			return fmt.Errorf("run %s is %s: %w: %s", run.ID, t.State, ErrBlocked, t.Problem)
		}
		return nil
	}
	if run.Terminal == nil {
		return fmt.Errorf("%w, without an answer: it is %s", journal.ErrClosed, run.Status)
	}
	if how := resultError(run.ID, run.Terminal); how != nil {
		return fmt.Errorf("%w, without an answer: %w", journal.ErrClosed, how)
	}
	return fmt.Errorf("%w, without an answer: it has completed", journal.ErrClosed)
}

// resultError returns the error that a terminal event stands for, nil for a completed run.
func resultError(run journal.RunID, terminal *journal.Event) error {
	if terminal.Kind == journal.RunCompleted {
		return nil
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
