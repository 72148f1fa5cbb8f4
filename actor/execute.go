package actor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// attempt is one execution of a step's body. It belongs to its goroutine.
type attempt struct {
	sc       replay.StepContext
	body     replay.Body
	options  *replay.StepOptions
	run      *journal.Run
	epoch    int
	number   int
	left     time.Duration // until the whole step runs out of time; 0 for no limit
	reply    *proto.PID
	ctx      context.Context
	cancel   context.CancelCauseFunc
	handover *handover // of a step in a transaction, else nil
	beats    pulse
	silence  silence
	done     stepDone // the answer
}

// result is the end of an attempt.
type result struct {
	cmd         journal.Cmd
	number      int
	output      journal.Payload
	failure     *journal.Failure // nil: it succeeded
	interrupted bool             // stopped by the node, not by anything the step did
	tx          journal.Tx       // of a step in a transaction that succeeded: still open
	beat        *journal.Payload // details of the last heartbeat, nil for none
}

// execute runs an attempt on its own goroutine, once a slot is free. It always ends in exactly one stepDone.
func (s *System) execute(a *attempt) {
	s.bodies.Add(1)
	s.pool.Do(func(w *pool.Worker) { s.perform(w, a) })
}

// perform waits for a slot, prepares the context, runs the body and answers.
func (s *System) perform(w *pool.Worker, a *attempt) {
	defer s.bodies.Done()
	select {
	case s.slots <- struct{}{}:
	default:
		select {
		case s.slots <- struct{}{}:
		case <-a.ctx.Done():
			s.answer(w, a, judge(context.Cause(a.ctx), context.Cause(a.ctx)))
			return
		}
	}
	ctx, release := a.limits()
	a.silence.watch(a.options.Heartbeat, a.cancel)
	a.sc.Heartbeat = func(details journal.Payload) { s.beat(a, &details) }
	ctx = replay.WithStepContext(ctx, &a.sc)
	var end func(*journal.Failure)
	if s.o.Hooks.Step != nil {
		ctx, end = s.o.Hooks.Step(ctx, a.run, &a.sc)
	}
	var res result
	returned := false
	defer func() { // also when the body ends this goroutine
		if !returned {
			res = result{failure: goexit()}
		}
		a.silence.stop()
		release()
		if end != nil {
			end(res.failure)
		}
		res.beat = a.beats.newest()
		s.answer(w, a, res)
	}()
	res = s.await(ctx, a)
	returned = true
}

func (s *System) answer(w *pool.Worker, a *attempt, res result) {
	res.cmd, res.number = a.sc.Cmd, a.number
	if res.tx != nil && !a.handover.leave(res.tx) {
		(&occurrence{result: res}).rollback(s)
	}
	a.done = stepDone{epoch: a.epoch, result: res}
	w.ExpectIdle()
	s.proto.Root.Send(a.reply, &a.done)
}

func (s *System) beat(a *attempt, details *journal.Payload) {
	a.silence.beat()
	if a.beats.take(details) {
		s.proto.Root.Send(a.reply, beat{epoch: a.epoch, cmd: a.sc.Cmd, number: a.number, details: *details})
	}
}

// limits adds the time limits of the attempt and of the whole step.
func (a *attempt) limits() (context.Context, context.CancelFunc) {
	limit, cause := a.options.Attempt, ErrAttemptTimeout
	if a.left > 0 && (limit <= 0 || a.left < limit) {
		limit, cause = a.left, ErrStepTimeout
	}
	if limit <= 0 {
		return a.ctx, func() { a.cancel(nil) }
	}
	ctx, cancel := context.WithTimeoutCause(a.ctx, limit, cause)
	return ctx, func() {
		cancel()
		a.cancel(nil) // of a step that its run has forgotten nobody else does
	}
}

func goexit() *journal.Failure {
	return &journal.Failure{Type: journal.FailurePanic, Message: "the step ended its goroutine (runtime.Goexit)"}
}

// await runs the body, and gives the slot back when it has returned, which may be after the answer: a body that ignores its
// context cannot be stopped. Without a limit there is nothing to watch but the body itself. A transaction cannot be
// shared with a body that goes on, so steps that have one are always awaited.
func (s *System) await(ctx context.Context, a *attempt) result {
	_, limited := ctx.Deadline()
	if a.options.Tx || !limited && a.options.Heartbeat <= 0 {
		defer s.leave()
		return s.guarded(ctx, a)
	}
	outcome := make(chan result, 1)
	s.bodies.Add(1)
	go func() {
		res := result{failure: goexit()}
		defer func() {
			s.leave()
			outcome <- res
			s.bodies.Done()
		}()
		res = s.guarded(ctx, a)
	}()
	over, stop := expiry(ctx)
	defer stop()
	select {
	case res := <-outcome:
		return res
	case <-over:
	case <-a.silence.over: // also if the attempt was asked to end before, which keeps ErrHeartbeat from becoming the cause
		return judge(ErrHeartbeat, ErrHeartbeat)
	}
	select {
	case res := <-outcome:
		return res
	default:
		return judge(context.Cause(ctx), context.Cause(ctx))
	}
}

// leave gives a slot back.
func (s *System) leave() { <-s.slots }

// expiry is closed when the attempt is over whether its body returns or not: it ran out of time or its owner is gone. Being
// asked to cancel or to shut down is not enough: then the body decides how it ends, within its time limit.
func expiry(ctx context.Context) (<-chan struct{}, func() bool) {
	c := make(chan struct{})
	return c, context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), ErrCancelRequested) || errors.Is(context.Cause(ctx), ErrShutdown) {
			if deadline, ok := ctx.Deadline(); ok {
				time.AfterFunc(time.Until(deadline), func() { close(c) })
			}
			return
		}
		close(c)
	})
}

// guarded runs the body so that a return and a panic give a result. Nothing is returned by a body that ends its
// goroutine.
func (s *System) guarded(ctx context.Context, a *attempt) (res result) {
	var tx journal.Tx
	defer func() {
		if p := recover(); p != nil {
			res = result{failure: panicFailure(p)}
		}
		if tx != nil && res.tx == nil {
			_ = tx.Rollback(context.WithoutCancel(ctx)) // the attempt failed; the connection's fate decides nothing
		}
	}()
	var value any
	if a.options.Tx {
		var err error
		if tx, err = s.o.Store.Begin(ctx); err != nil {
			return judge(context.Cause(ctx), fmt.Errorf("begin the step's transaction: %w", err))
		}
		value = tx.Value()
	}
	output, err := s.run(ctx, a.body, value)
	if err != nil {
		return judge(context.Cause(ctx), err)
	}
	return result{output: output, tx: tx}
}

func (s *System) run(ctx context.Context, body replay.Body, tx any) (journal.Payload, error) {
	if s.o.Intercept != nil {
		return s.o.Intercept(ctx, tx, body)
	}
	return body(ctx, tx)
}

// panicFailure is cut to what a history keeps: it is stored with every retry until the step ends.
func panicFailure(p any) *journal.Failure {
	f := &journal.Failure{Type: journal.FailurePanic, Message: fmt.Sprintf("panic: %v", p), Stack: string(debug.Stack())}
	if stored, err := journal.DecodeFailure(journal.EncodeFailure(f)); err == nil {
		return stored
	}
	return f
}

// judge turns an error into a result, given why the attempt's context ended, if it has. What the node did to the attempt
// is not the step's failure; what a time limit did is.
func judge(cause, err error) result {
	switch {
	case errors.Is(cause, ErrShutdown), errors.Is(cause, ErrRunLost):
		return result{failure: replay.FailureOf(err), interrupted: true}
	case errors.Is(cause, ErrAttemptTimeout), errors.Is(cause, ErrStepTimeout):
		return result{failure: &journal.Failure{Type: journal.FailureTimeout, Message: cause.Error(), Cause: replay.FailureOf(err)}}
	case errors.Is(cause, ErrHeartbeat):
		return result{failure: &journal.Failure{Type: journal.FailureHeartbeat, Message: cause.Error(), Cause: replay.FailureOf(err)}}
	}
	return result{failure: replay.FailureOf(err)}
}

// pulse thins out the heartbeats of an attempt: a body may beat in a tight loop, its actor need not hear of each. What was held
// back comes with the end of the attempt.
type pulse struct {
	mu     sync.Mutex
	last   *journal.Payload
	passed time.Time
}

// take keeps the details and tells whether they are to be passed on now.
func (p *pulse) take(details *journal.Payload) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = details
	if now := time.Now(); now.Sub(p.passed) >= beatEvery {
		p.passed = now
		return true
	}
	return false
}

func (p *pulse) newest() *journal.Payload {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// silence cancels an attempt that has not heartbeat for its limit.
type silence struct {
	mu    sync.Mutex
	limit time.Duration
	timer *time.Timer
	over  chan struct{} // closed when it has lasted too long
}

// watch begins, if there is a limit.
func (s *silence) watch(limit time.Duration, cancel context.CancelCauseFunc) {
	if limit <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.over = limit, make(chan struct{})
	s.timer = time.AfterFunc(limit, func() {
		cancel(ErrHeartbeat)
		close(s.over)
	})
}

func (s *silence) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.timer.Stop() {
		s.timer.Reset(s.limit)
	}
}

func (s *silence) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
