package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
)

// effects is what a step's transaction is here.
type effects = *memory.Effects

// step executes a step and waits for it.
func (p *interpreter) step(ctx workflow.Context, in *instr) (out string, err error) {
	switch {
	case in.Do == doTx:
		out, err = workflow.StepTx(ctx, in.step(), p.txBody(in), in.options())
	case in.Do == doPlain && in.Sort.Tx:
		body := p.txBody(in)
		err = workflow.DoTx(ctx, in.step(), func(ctx context.Context, tx effects) error { _, err := body(ctx, tx); return err }, in.options())
	case in.Do == doPlain:
		err = workflow.Do(ctx, in.step(), silent(p.body(in, false)), in.options())
	case in.Sort.Tx:
		out, err = p.begin(ctx, in).Get(ctx)
	default:
		out, err = workflow.Step(ctx, in.step(), p.body(in, false), in.options())
	}
	failed, ok := errors.AsType[*workflow.StepError](err)
	if want := in.attempts(); ok && !errors.Is(err, workflow.ErrCancelled) && failed.Attempts != want {
		p.wrong(in, "it failed after %d attempts, want %d", failed.Attempts, want)
	}
	byPlan := ok && !errors.Is(err, workflow.ErrCancelled) && !errors.Is(err, workflow.ErrTimeout)
	if last, named := errors.AsType[*planned](err); byPlan && !named || named != errors.Is(err, errPlanned) || named && last.Attempt != failed.Attempts {
		p.wrong(in, "its error, %v, is %v and that of attempt %+v, want %d", err, errors.Is(err, errPlanned), last, failed.Attempts)
	}
	return out, err
}

// attempts is how many attempts a step makes that fails.
func (in *instr) attempts() int {
	if n := in.Max; !in.Sort.Final || n > 0 && n < in.Fail {
		return n
	}
	return in.Fail
}

// begin executes a step and does not wait.
func (p *interpreter) begin(ctx workflow.Context, in *instr) workflow.Future[string] {
	if in.Sort.Tx {
		return workflow.StepTxAsync(ctx, in.step(), p.txBody(in), in.options())
	}
	return workflow.StepAsync(ctx, in.step(), p.body(in, false), in.options())
}

// compensate adds to a saga what undoes the instruction.
func (p *interpreter) compensate(undo *workflow.Undo, in *instr) {
	o := &workflow.StepOptions{Retry: retry(0)}
	if in.Sort.Stays {
		o.Retry = retry(1)
	}
	switch {
	case !in.undoes():
	case in.transacts():
		workflow.PushTx(undo, in.undo(), func(ctx context.Context, tx effects) error {
			_, err := p.bodies.execute(ctx, in, true, tx.Do)
			return err
		}, o)
	default:
		undo.Push(in.undo(), silent(p.body(in, true)), o)
	}
}

// saga checks what a saga says of its compensations that failed.
func (p *interpreter) saga(in *instr, reached []*instr, err error) {
	var want, got []string
	mine := map[string]bool{}
	for i := len(reached) - 1; i >= 0 && err != nil; i-- {
		if at := reached[i]; at.undoes() && at.Sort.Stays {
			want = append(want, at.undo())
			mine[at.undo()] = true
		}
	}
	if failed, ok := errors.AsType[*workflow.SagaError](err); ok {
		for _, err := range failed.Failures {
			if step, ok := errors.AsType[*workflow.StepError](err); !ok {
				p.wrong(in, "a compensation failed with %v", err)
			} else if mine[step.Step] || len(want) > 0 { // it may be the error of a saga inside, that is the cause
				got = append(got, step.Step)
			}
		}
	}
	if !slices.Equal(got, want) {
		p.wrong(in, "compensations %q failed, told is of %q", want, got)
	}
}

func (p *interpreter) body(in *instr, undo bool) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return p.bodies.execute(ctx, in, undo, nil) }
}

func (p *interpreter) txBody(in *instr) func(context.Context, effects) (string, error) {
	return func(ctx context.Context, tx effects) (string, error) { return p.bodies.execute(ctx, in, false, tx.Do) }
}

// silent is a body without an output.
func silent(body func(context.Context) (string, error)) func(context.Context) error {
	return func(ctx context.Context) error { _, err := body(ctx); return err }
}

func (in *instr) options() *workflow.StepOptions {
	o := &workflow.StepOptions{Retry: retry(in.Max), OnCancel: workflow.CancelMode(in.Mode)}
	if in.Sort.Waits {
		o.OnExhausted = workflow.PauseRun
	}
	if in.Sort.Needs != "" {
		o.Limits = in.limits()
	}
	switch in.Sort.Limit {
	case limitAttempt:
		o.AttemptTimeout = in.For / 2
	case limitSilence:
		o.HeartbeatTimeout = in.For / 2
	}
	return o
}

// retry has no jitter, so that a seed's retries come at the same times again.
func retry(attempts int) *workflow.RetryPolicy {
	return &workflow.RetryPolicy{Initial: 70 * time.Millisecond, Max: time.Second, Jitter: -1, Attempts: attempts}
}
