package runtimetest

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Call is one execution of a step's body, or of the fake in its place. Executions that a crash
// interrupted are among them, with whatever they returned.
type Call struct {
	Run     journal.RunID
	Step    string
	Cmd     journal.Cmd
	Attempt int           // from 1
	Key     string        // the idempotency key
	At      time.Duration // since the test began
	Done    bool          // it has returned without a panic, and Err is what it returned
	Err     error
	over    bool // it has returned, or panicked

	generation journal.Generation
}

type fake func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error)

// Fake has fn executed in place of every step of this name, of any run. The step's options hold:
// attempts, timeouts and retries are those of the body. workflow.StepInfo tells fn about its step.
// A later Fake replaces an earlier one. T must be what the step returns, since the workflow decodes
// it.
func Fake[T any](e *Env, step string, fn func(context.Context) (T, error)) {
	e.fake(step, func(ctx context.Context, _ any, _ replay.Body) (journal.Payload, error) {
		out, err := fn(ctx)
		return encode(ctx, step, out, err)
	})
}

// FakeTx is Fake for steps in a transaction: what fn gives to Effects.Do happens exactly once, with
// the step's event. It is the same with [TxFrom], of whose transactions fn needs none.
func FakeTx[T any](e *Env, step string, fn func(context.Context, *memory.Effects) (T, error)) {
	e.fake(step, func(ctx context.Context, tx any, _ replay.Body) (journal.Payload, error) {
		effects, ok := tx.(*memory.Effects)
		if !ok {
			return journal.Payload{}, workflow.Permanent(fmt.Errorf("step %s has no transaction for its fake", step))
		}
		out, err := fn(ctx, effects)
		return encode(ctx, step, out, err)
	})
}

func (e *Env) fake(step string, fn fake) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fakes[step] = fn
}

func encode(ctx context.Context, step string, out any, err error) (journal.Payload, error) {
	if err != nil {
		return journal.Payload{}, err
	}
	return replay.StepContextFrom(ctx).Encoder.Encode("output of the fake of step "+step, out)
}

// FailNext makes the next attempts of a step fail with these errors, one after the other, without
// executing its body or fake. Errors of several calls are used in the order of the calls, whichever
// run makes the attempt.
func (e *Env) FailNext(step string, errs ...error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failures[step] = append(e.failures[step], errs...)
}

// Calls returns the executions of a step so far, by all runs, in the order they began. Attempts
// that FailNext made fail are among them. The slice is the caller's.
func (e *Env) Calls(step string) []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []Call
	for _, c := range e.calls {
		if c.Step == step {
			list = append(list, *c)
		}
	}
	return list
}

// Effects returns how often a step was executed and returned without an error: its effect has
// happened so many times, however often the step was recorded. After a crash that may be more than
// once for a step that was asked for once.
func (e *Env) Effects(step string) int {
	n := 0
	for _, c := range e.Calls(step) {
		if c.Done && c.Err == nil {
			n++
		}
	}
	return n
}

// intercept executes a step's body, or what a test has put in its place.
func (p *process) intercept(ctx context.Context, tx any, body replay.Body) (journal.Payload, error) {
	if p.dead.Load() {
		return journal.Payload{}, errCrashed
	}
	c, do := p.e.begin(replay.StepContextFrom(ctx))
	faked := do != nil
	if do == nil && p.e.Node.Intercept != nil {
		do = p.e.Node.Intercept
	}
	if do == nil {
		do = func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error) { return body(ctx, tx) }
	}
	returned := false
	var out journal.Payload
	var err error
	defer func() {
		p.e.mu.Lock()
		defer p.e.mu.Unlock()
		c.over, c.Done, c.Err = true, returned, err // a panic is no return
	}()
	if tx, err = opened(ctx, tx, faked); err == nil {
		out, err = do(ctx, tx, body)
	}
	returned = true
	return out, err
}

// begin records an execution and returns what is to be called in place of the body, nil for the
// body.
func (e *Env) begin(sc *replay.StepContext) (*Call, fake) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &Call{
		Run: sc.Run, Step: sc.Step, Cmd: sc.Cmd, Attempt: int(sc.Attempt), Key: sc.IdempotencyKey(), At: e.Elapsed(),
		generation: sc.Generation,
	}
	e.calls = append(e.calls, c)
	if list := e.failures[sc.Step]; len(list) > 0 {
		e.failures[sc.Step] = list[1:]
		return c, func(context.Context, any, replay.Body) (journal.Payload, error) { return journal.Payload{}, list[0] }
	}
	return c, e.fakes[sc.Step]
}
