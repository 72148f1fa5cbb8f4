package actor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// attempt is one execution of a step's body, and knows all that the execution needs: the executor
// never looks into a run. The run fills it and does not touch it after execute, except that it
// calls cancel and uses the handoff, which are safe from any goroutine.
type attempt struct {
	sc      replay.StepContext
	body    replay.Body
	options *replay.StepOptions
	run     *journal.Run
	epoch   int           // the run's, which the answer carries back
	number  int           // of the step's attempts in this actor, which the answer carries back
	left    time.Duration // until the whole step runs out of time; 0 for no limit
	asked   time.Time     // local time when it was due and left was computed; zero if nobody wants to know
	reply   *proto.PID    // the run's mailbox
	ctx     context.Context
	cancel  context.CancelCauseFunc
	expire  context.CancelFunc // of the context with a limit; nil for none
	tx      journal.Tx         // of a step with a transaction, else nil
	handoff *txHandoff         // of a step with a transaction, else nil
	ended   error              // its body has failed, and has ended the transaction before; nil if it has not

	exec      *executor          // which executes it
	began     atomic.Bool        // it has, or had, a slot
	called    atomic.Bool        // its body has been called, or will not be: see callOff
	state     atomic.Int32       // of the body, see abandoned
	goroutine atomic.Int64       // that executes the body; 0 before
	watched   atomic.Bool        // the attempt is over, and the body is looked after
	kept      bool               // the body is abandoned and keeps its slot; guarded by abandoned.mu
	line      *line              // in which it waited for its slot; nil if it got one at once
	node      list.Node[attempt] // in the line, while it waits
	unwatch   func() bool        // ends the watch over ctx, while it waits
	since     time.Time          // when it fell due, by the store's clock; of a step with limits
	claim     *claim             // of limits; nil for a step without
	throttle  heartbeatThrottle
	deadline  heartbeatDeadline
	done      stepDone // the answer; part of the attempt so that sending it allocates nothing
}

// result is the end of an attempt.
type result struct {
	cmd         journal.Cmd
	number      int
	output      journal.Payload
	failure     *journal.Failure // nil: it succeeded
	interrupted bool             // by the node, not by anything that the step did
	tx          journal.Tx       // of a step with a transaction that succeeded: still open
	borrowed    bool             // tx keeps the store's other writes waiting
	heartbeat   *journal.Payload // details of the last heartbeat, nil for none
}

// callOff keeps the body from being called, and tells whether it did: the body had not been. An
// attempt that has a slot may wait for its transaction. Whoever swaps the flag first decides, so no
// body begins behind a call that was true.
func (a *attempt) callOff(cause error) bool {
	if a.called.Swap(true) {
		return false
	}
	a.cancel(cause)
	return true
}

// limit derives a context with the time limits of the attempt and of the whole step.
func (a *attempt) limit() (ctx context.Context) {
	limit, cause := a.options.Attempt, ErrAttemptTimeout
	if a.left > 0 && (limit <= 0 || a.left < limit) {
		limit, cause = a.left, ErrStepTimeout
	}
	if limit <= 0 {
		return a.ctx
	}
	ctx, a.expire = context.WithTimeoutCause(a.ctx, limit, cause)
	return ctx
}

// release frees what the contexts of the attempt hold, also for a step that its run no longer
// knows.
func (a *attempt) release() {
	if a.expire != nil {
		a.expire()
	}
	a.cancel(nil)
}

// onExpiry calls over when the attempt is over whether its body has returned or not: it ran out of
// time, or its owner is gone. A request to cancel, to shut down or to pause is not enough: the body
// decides how to end then, within its time limit.
func onExpiry(ctx context.Context, over func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, ErrCancelRequested) || errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrPaused) {
			if deadline, ok := ctx.Deadline(); ok {
				time.AfterFunc(time.Until(deadline), over)
			}
			return
		}
		over()
	})
}

// resultOf makes a result of an error and of the cause for which the attempt's context ended, nil
// if it has not. What the node did to the attempt is no failure of the step, so such an attempt
// does not count; what a time limit did is one.
func resultOf(cause, err error) result {
	f := replay.FailureOf(err)
	switch {
	case errors.Is(cause, ErrShutdown), errors.Is(cause, ErrRunLost), errors.Is(cause, ErrRunClosed), errors.Is(cause, ErrPaused):
		return result{failure: f, interrupted: true}
	case errors.Is(cause, ErrAttemptTimeout), errors.Is(cause, ErrStepTimeout):
		return result{failure: &journal.Failure{Type: journal.FailureTimeout, Message: cause.Error(), Cause: f}}
	case errors.Is(cause, ErrHeartbeat):
		return result{failure: &journal.Failure{Type: journal.FailureHeartbeat, Message: cause.Error(), Cause: f}}
	}
	return result{failure: f}
}

// goexitFailure is the failure of a body that has ended its goroutine. Like panicFailure it is
// called by a deferred function of that goroutine, where the frames of the body are still there.
func goexitFailure() *journal.Failure {
	return crashed("the step ended its goroutine (runtime.Goexit)")
}

func panicFailure(p any) *journal.Failure { return crashed(fmt.Sprintf("panic: %v", p)) }

// crashed is the failure of a body that did not return, with the line of the user's code behind the
// text. The text is cut first, so that the line survives, then all to what a history keeps: the
// failure is stored again with every retry until the step ends. Encoding is what cuts.
func crashed(text string) *journal.Failure {
	if len(text) > panicTextBytesMax {
		text = strings.ToValidUTF8(text[:panicTextBytesMax], "") + "…"
	}
	text += callsite.Caller().At()
	f := &journal.Failure{Type: journal.FailurePanic, Message: text, Stack: string(debug.Stack())}
	if stored, err := journal.DecodeFailure(journal.EncodeFailure(f)); err == nil {
		return stored
	}
	return f
}
