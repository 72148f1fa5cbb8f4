package runtime

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// ErrRunning is returned by Node.Run when the node already runs.
var ErrRunning = errors.New("node already runs")

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
