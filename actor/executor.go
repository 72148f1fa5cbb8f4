package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/goroutine"
	"github.com/reprise-run/reprise/internal/intercept"
	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// executor executes attempts of steps, and ends transactions that nobody will commit.
//
// Its promise to runs: each attempt is answered by exactly one stepDone, as soon as its body has
// ended or has exceeded a limit, unless its run withdraws it before it begins. The
// body may return, panic, end its goroutine, or ignore its
// context; a run that waited for an answer that never comes would stay owned and never be parked.
// So the answer is sent from a deferred call, which a Goexit runs as well, and a body with a limit
// is executed on a goroutine of its own, which need not end. A body without a limit may take for
// ever. Its run stays owned meanwhile, as it should: the step is being executed.
//
// A slot, on the other hand, is given back only when the body has returned, which may be after the
// answer: otherwise bodies that ignore their context would add up beyond the limit. What does not
// return at all gives its slot to others after a while, up to a bound: see abandoned.
type executor struct {
	o    *Options
	pool *pool.Pool
	root *proto.RootContext

	slots  *slots // one for each body that runs
	hung   *abandoned
	bodies sync.WaitGroup  // attempts, those that wait among them, bodies and rollbacks in progress
	base   context.Context // ancestor of every attempt's context
	stop   context.CancelCauseFunc

	pauses *pauses // no body in their scopes begins

	around intercept.Chain[context.Context]
}

func newExecutor(o *Options, p *pool.Pool, root *proto.RootContext) *executor {
	e := &executor{o: o, pool: p, root: root, pauses: new(pauses), around: around(o.StepInterceptors)}
	e.slots = newSlots(o.StepsMax, func(a *attempt) { p.Do(a) }, e.endWaiting)
	e.hung = newAbandoned(o, e.releaseSlot)
	e.base, e.stop = context.WithCancelCause(context.Background())
	return e
}

// wait returns when everything in progress has ended, or after the given time.
func (e *executor) wait(limit time.Duration) {
	ended := make(chan struct{})
	go func() { e.bodies.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// rollback ends a transaction that nobody will commit, nil for none. It runs elsewhere, because a
// mailbox must not wait for a database.
func (e *executor) rollback(tx journal.Tx) {
	if tx == nil {
		return
	}
	e.bodies.Add(1)
	go func() {
		defer e.bodies.Done()
		_ = tx.Rollback(context.WithoutCancel(e.base)) // it is abandoned either way
	}()
}

// execute executes an attempt on a worker, once it has its claims of limits and a slot. It does not
// block.
func (e *executor) execute(a *attempt) {
	e.bodies.Add(1)
	a.exec, a.sc.Heartbeats = e, a
	if f := e.hung.refuse(a); f != nil {
		a.release()
		e.answer(nil, a, result{failure: f})
		e.bodies.Done()
		return
	}
	if len(a.options.Limits) > 0 && e.o.Limiter != nil {
		claimLimits(a, e.o.Limiter, e.slots.take, e.endWaiting)
		return
	}
	e.slots.take(a)
}

// withdraw takes back an attempt that waits for its claims or its slot, and tells whether it did:
// then the attempt does not begin and is not answered.
func (e *executor) withdraw(a *attempt) bool {
	if !a.claim.withdraw() && !e.slots.withdraw(a) {
		return false
	}
	a.claim.forgo()
	a.release()
	e.bodies.Done()
	return true
}

// endWaiting answers an attempt whose context has ended before it had a slot.
func (e *executor) endWaiting(a *attempt) {
	defer e.bodies.Done()
	a.claim.forgo()
	e.answer(nil, a, resultOf(context.Cause(a.ctx), context.Cause(a.ctx)))
}

// Run implements pool.Job.
func (a *attempt) Run(w *pool.Worker) { a.exec.perform(w, a) }

// Heartbeat implements replay.Heartbeats.
func (a *attempt) Heartbeat(details journal.Payload) { a.exec.heartbeat(a, &details) }

// perform prepares the context, calls the body and answers. The attempt has a slot, and begins even
// if its context has ended.
func (e *executor) perform(w *pool.Worker, a *attempt) {
	defer e.bodies.Done()
	if a.left > 0 { // the time in the queue is the step's too
		a.left = max(a.left-time.Since(a.asked), 1)
	}
	failed := e.begin(a)
	if failed == nil && (a.called.Swap(true) || e.pauses.inScope(a.run) != nil) {
		e.rollback(a.tx)
		failed = new(resultOf(ErrPaused, ErrPaused))
	}
	if failed != nil {
		e.releaseSlot(a)
		a.claim.forgo()
		a.release()
		e.answer(w, a, *failed)
		return
	}
	ctx := a.limit()
	if a.options.Heartbeat > 0 {
		a.deadline.start(a.options.Heartbeat, func(cause error) {
			a.cancel(cause)
			e.hung.watch(a)
		})
	}
	ctx = replay.WithStepContext(ctx, &a.sc)
	var end func(*journal.Failure)
	if e.o.Hooks.Step != nil {
		ctx, end = e.o.Hooks.Step(ctx, a.run, &a.sc, time.Since(a.asked))
	}
	var res result
	returned := false
	defer func() { // also when the body ends this goroutine
		if !returned {
			res = result{failure: goexitFailure()}
		}
		if a.ended != nil { // also if the node has interrupted it: it would do the same elsewhere
			cause := res.failure
			res = result{failure: replay.FailureOf(a.ended)}
			res.failure.Cause = cause
		}
		a.deadline.stop()
		a.release()
		if end != nil {
			end(res.failure)
		}
		res.heartbeat = a.throttle.end()
		e.answer(w, a, res)
	}()
	res = e.await(ctx, a)
	returned = true
}

// begin begins the transaction of a step that has one. It comes before the attempt: nothing of the
// step has happened yet, and its time has not begun. So a store that is not available costs no
// attempt. It is asked again until the run gives the attempt up, or the whole step is out of time.
func (e *executor) begin(a *attempt) (failed *result) {
	if !a.options.Tx {
		return nil
	}
	ctx, began := a.ctx, time.Now()
	if waits := e.o.Hooks.TxWaits; waits != nil {
		defer time.AfterFunc(txWaitsAfter, func() { waits(a.run, a.sc.Step, time.Since(began)) }).Stop()
	}
	if a.left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.left, ErrStepTimeout)
		defer cancel()
	}
	for try := int32(1); ; try++ {
		tx, err := e.o.Store.Begin(ctx)
		if err == nil {
			askBeforeUse(e, a, tx)
			if a.tx = tx; a.left > 0 {
				a.left = max(a.left-time.Since(began), 1)
			}
			return nil
		}
		if !errors.Is(err, journal.ErrUnavailable) || !pause(ctx, backoff(beginRetry, try)) {
			res := resultOf(context.Cause(ctx), fmt.Errorf("begin the step's transaction: %w", err))
			return &res
		}
	}
}

// pause waits for d, or until ctx ends, and tells whether ctx still lasts.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// releaseSlot gives the attempt's slot back. It is the place of the node that has become free.
func (e *executor) releaseSlot(a *attempt) {
	e.slots.put(a)
	if e.o.Hooks.Room != nil {
		e.o.Hooks.Room()
	}
}

// bodyEnded gives the slot of a body that has ended back, if the body still had it, and its claims.
// The slot comes first: the Limiter asks for as many claims as there are slots for, and can do so
// with the round that ends these claims.
func (e *executor) bodyEnded(a *attempt) {
	if e.hung.returned(a) {
		e.releaseSlot(a)
	}
	a.claim.release()
}

// answer sends the attempt's only stepDone. The worker has nothing to do afterwards, so it is the
// one that serves the run's mailbox next.
func (e *executor) answer(w *pool.Worker, a *attempt, res result) {
	res.cmd, res.number = a.sc.Cmd, a.number
	if res.tx != nil && !a.handoff.put(res.tx) {
		e.rollback(res.tx)
	}
	a.done = stepDone{epoch: a.epoch, result: res}
	w.ExpectIdle()
	e.root.Send(a.reply, &a.done)
}

func (e *executor) heartbeat(a *attempt, details *journal.Payload) {
	a.deadline.extend()
	a.throttle.add(details, func(newest *journal.Payload) {
		e.root.Send(a.reply, heartbeat{epoch: a.epoch, cmd: a.sc.Cmd, number: a.number, details: *newest})
	})
}

// await calls the body and returns its result, or the result of the limit that the body has
// exceeded. Without a limit there is nothing to wait for but the body, so it needs no goroutine. A
// step with a transaction is always awaited: the transaction must not be used by a body and by its
// run at once.
func (e *executor) await(ctx context.Context, a *attempt) result {
	_, limited := ctx.Deadline()
	if a.options.Tx || !limited && a.options.Heartbeat <= 0 {
		if a.options.Tx && limited {
			defer onExpiry(ctx, func() { // it is over, although its run waits for it
				a.cancel(context.Cause(ctx))
				e.hung.watch(a)
			})()
		}
		return e.guarded(ctx, a)
	}
	outcome := make(chan result, 1)
	e.bodies.Add(1)
	go func() {
		var res result
		returned := false
		defer func() {
			if !returned {
				res = result{failure: goexitFailure()}
			}
			outcome <- res
			e.bodies.Done()
		}()
		res = e.guarded(ctx, a)
		returned = true
	}()
	over := make(chan struct{})
	defer onExpiry(ctx, func() { close(over) })()
	select {
	case res := <-outcome:
		return res
	case <-over:
	case <-a.deadline.over: // an attempt that was asked to end before has another cause, but was silent too
		return resultOf(ErrHeartbeat, ErrHeartbeat)
	}
	e.hung.watch(a)
	select { // both may be there: the body's own result says more
	case res := <-outcome:
		return res
	default:
		return resultOf(context.Cause(ctx), context.Cause(ctx))
	}
}

// guarded calls the body and makes a result of its return or its panic. A body that ends its
// goroutine leaves without a result, and without its transaction. The body has ended before the
// transaction is rolled back: if that takes its time, on a connection that has fallen silent, the
// body is not the one that hangs.
func (e *executor) guarded(ctx context.Context, a *attempt) (res result) {
	a.goroutine.Store(goroutine.ID())
	tx := a.tx
	defer func() {
		if p := recover(); p != nil {
			res = result{failure: panicFailure(p)}
		}
		e.bodyEnded(a)
		if tx != nil && res.tx == nil {
			a.ended = checkBody(ctx, tx)
			_ = tx.Rollback(context.WithoutCancel(ctx)) // the attempt failed, whatever the connection says
		}
	}()
	var value any
	if tx != nil {
		value = tx.Value()
	}
	output, err := e.call(ctx, a.body, value)
	if err != nil {
		return resultOf(context.Cause(ctx), err)
	}
	return result{output: output, tx: tx}
}

// call calls the body with the interceptors around it.
func (e *executor) call(ctx context.Context, body replay.Body, tx any) (journal.Payload, error) {
	if len(e.around.Layers) > 0 {
		return e.intercepted(ctx, body, tx)
	}
	return e.callBody(ctx, body, tx)
}

// intercepted is a function of its own so that a body without interceptors allocates nothing for
// them.
func (e *executor) intercepted(ctx context.Context, body replay.Body, tx any) (output journal.Payload, err error) {
	err = e.around.Do(ctx, func(ctx context.Context) (err error) {
		output, err = e.callBody(ctx, body, tx)
		return err
	})
	return output, err
}

func (e *executor) callBody(ctx context.Context, body replay.Body, tx any) (journal.Payload, error) {
	if e.o.Intercept != nil {
		return e.o.Intercept(ctx, tx, body)
	}
	return body(ctx, tx)
}
