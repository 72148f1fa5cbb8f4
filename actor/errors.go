package actor

import "errors"

// Causes of the cancellation of a step's context, for context.Cause.
var (
	// ErrCancelRequested: the run, or the scope of the step, was cancelled.
	ErrCancelRequested = errors.New("cancellation was requested")
	// ErrShutdown: the node drains and its deadline has passed. The attempt does not count.
	ErrShutdown = errors.New("node is shutting down")
	// ErrRunLost: another node owns the run now, or the node lost its lease. The attempt's result
	// will be discarded.
	ErrRunLost = errors.New("run was lost to another node")
	// ErrHeartbeat: the step was silent for longer than its heartbeat timeout.
	ErrHeartbeat = errors.New("step did not heartbeat in time")
	// ErrAttemptTimeout and ErrStepTimeout: the attempt, or the step with all its attempts, ran out
	// of time.
	ErrAttemptTimeout = errors.New("attempt ran out of time")
	ErrStepTimeout    = errors.New("step ran out of time")
)
