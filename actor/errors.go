package actor

import "errors"

// Causes of the cancellation of a step's context, for context.Cause.
var (
	// ErrCancelRequested: the run, or the scope of the step, was cancelled. The body decides how it
	// ends.
	ErrCancelRequested = errors.New("cancellation was requested")
	// ErrShutdown: the node drains and its deadline has passed. The attempt does not count.
	ErrShutdown = errors.New("node is shutting down")
	// ErrRunLost: another node owns the run now, or this node has lost its lease. The result of the
	// attempt will be ignored.
	ErrRunLost = errors.New("run was lost to another node")
	// ErrRunClosed: somebody has closed the run from outside, or deleted it. The result of the
	// attempt will be ignored, and nobody repeats it.
	ErrRunClosed = errors.New("run was terminated or deleted")
	// ErrPaused: an operator pauses the run and does not want to wait for the step. The attempt
	// does not count; the step starts anew when the run is resumed.
	ErrPaused = errors.New("run is being paused")
	// ErrHeartbeat: the attempt did not heartbeat for longer than its heartbeat timeout. It failed.
	ErrHeartbeat = errors.New("step did not heartbeat in time")
	// ErrAttemptTimeout: the attempt ran out of time. It failed, and may be retried.
	ErrAttemptTimeout = errors.New("attempt ran out of time")
	// ErrStepTimeout: the step with all its attempts ran out of time. It failed for good.
	ErrStepTimeout = errors.New("step ran out of time")
)
