package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/reprise-run/reprise/replay/workflow"
)

// program is the one workflow of a simulation: it interprets its input.
const program workflow.Name[job, outcome] = "program"

// bodies is what steps do in the world, or nothing in a check of a history.
type bodies interface {
	// execute is the body of a step. apply, if not nil, makes something happen with the step's
	// transaction.
	execute(ctx context.Context, in *instr, undo bool, apply func(func())) (string, error)
	// value is something outside. If coarse it changes seldom.
	value(coarse bool) string
	// slips tells whether the language shall do a verb wrong.
	slips(do verb) bool
}

// interpreter is one execution of a program. Strands run one at a time, so they share it.
type interpreter struct {
	job
	bodies   bodies
	futures  map[int]workflow.Future[string]
	children map[int]workflow.Child[outcome]
	out      outcome
	done     bool
}

// traceError is a failed program's error. Its text is the trace.
type traceError struct {
	error
	out *outcome
}

func (e *traceError) Error() string {
	text, err := json.Marshal(e.out)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (e *traceError) Unwrap() error { return e.error }

// interpret returns the workflow function.
func interpret(b bodies) func(workflow.Context, job) (outcome, error) {
	return func(ctx workflow.Context, j job) (outcome, error) {
		p := &interpreter{
			bodies: b, job: j, futures: map[int]workflow.Future[string]{}, children: map[int]workflow.Child[outcome]{}, out: j.Sofar,
		}
		p.handle(ctx)
		err := p.all(ctx, j.Program)
		p.done = true
		if len(p.out.Took) > 0 {
			workflow.Publish(ctx, "took", p.out.Took)
			workflow.SetLabels(ctx, map[string]string{"took": strconv.Itoa(len(p.out.Took)), "over": ""})
			workflow.RemoveLabels(ctx, "over")
		}
		if next, ok := errors.AsType[*goOn](err); ok {
			return outcome{}, workflow.ContinueAsNew(ctx, program, job{Root: j.Root, Of: j.Of, Program: next.body, Sofar: p.out}, nil)
		}
		if err != nil {
			return outcome{}, &traceError{err, &p.out}
		}
		return p.out, nil
	}
}

// goOn ends a generation.
type goOn struct{ body []instr }

func (*goOn) Error() string { return "goes on" }

// note appends to the trace what an instruction came to.
func (p *interpreter) note(in *instr, what, got string) {
	p.out.Trace = append(p.out.Trace, entry{in.ID, what, got})
}

// wrong notes that a verb does what it must not.
func (p *interpreter) wrong(in *instr, format string, args ...any) {
	p.note(in, wentWrong, fmt.Sprintf(format, args...))
}

// ended notes an end with or without an error, and returns the error.
func (p *interpreter) ended(in *instr, got string, err error) error {
	switch {
	case err == nil:
		p.note(in, wentOK, got)
	case errors.Is(err, workflow.ErrCancelled), errors.Is(err, workflow.ErrTimeout):
		p.note(in, wentCancelled, "")
	default:
		p.note(in, wentFailed, "")
	}
	return err
}

func (p *interpreter) all(ctx workflow.Context, body []instr) error {
	for i := range body {
		if err := p.one(ctx, &body[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *interpreter) one(ctx workflow.Context, in *instr) error {
	if in.idle() {
		return nil
	}
	switch in.Do {
	case doStep, doTx, doPlain:
		out, err := p.step(ctx, in)
		return p.ended(in, out, err)
	case doAsync:
		p.futures[in.ID] = p.begin(ctx, in)
		return nil
	case doAwait:
		if c, ok := p.children[in.Ref]; ok {
			out, err := c.Get(ctx)
			return p.grown(in, out, err)
		}
		f, ok := p.futures[in.Ref]
		if !ok {
			return nil
		}
		out, err := f.Get(ctx)
		return p.ended(in, out, err)
	case doSleep:
		before := ctx.Now()
		err := workflow.Sleep(ctx, in.For)
		if err == nil && ctx.Now().Sub(before) < in.For {
			p.note(in, wentEarly, "")
			return nil
		}
		return p.ended(in, "", err)
	case doReceive, doWithin, doSelect:
		return p.wait(ctx, in)
	case doPending, doPoll:
		return p.pick(ctx, in)
	case doTimeout, doScope, doShield, doAll, doTry, doSaga:
		return p.scoped(ctx, in)
	case doCall, doSpawn, doStop, doTell, doKill, doPost:
		return p.family(ctx, in)
	case doGroup, doRace, doMap, doCond:
		return p.together(ctx, in)
	case doFirst, doBest, doEvery, doPromise:
		return p.outcomes(ctx, in)
	}
	return p.further(ctx, in)
}

// wait executes the instructions that wait for signals.
func (p *interpreter) wait(ctx workflow.Context, in *instr) error {
	name := workflow.Signal[string](in.Name)
	if in.Do == doReceive {
		v, err := name.Receive(ctx)
		if err != nil {
			return p.ended(in, "", err)
		}
		p.got(in, v)
		return nil
	}
	before := ctx.Now()
	late := func() {
		if ctx.Now().Sub(before) < in.For {
			p.note(in, wentEarly, "")
		} else {
			p.note(in, wentLate, "")
		}
	}
	if in.Do == doWithin {
		v, ok, err := name.ReceiveTimeout(ctx, in.For)
		switch {
		case err != nil:
			return p.ended(in, "", err)
		case ok:
			p.got(in, v)
		default:
			late()
		}
		return nil
	}
	timer := workflow.NewTimer(ctx, in.For)
	var failed error
	cases := []workflow.Case{
		workflow.OnSignal(name, func(v string) { p.got(in, v) }),
		workflow.OnTimer(timer, late),
	}
	if f, ok := p.futures[in.Ref]; ok {
		cases = append(cases, workflow.OnFuture(f, func(out string, err error) { failed = p.ended(in, out, err) }))
	}
	if c, ok := p.children[in.Ref]; ok {
		cases = append(cases, workflow.OnFuture(c.Future, func(out outcome, err error) { failed = p.grown(in, out, err) }))
	}
	if _, err := workflow.Select(ctx, cases...); err != nil {
		return p.ended(in, "", err)
	}
	timer.Stop()
	return failed
}

// scoped executes the instructions that have a body.
func (p *interpreter) scoped(ctx workflow.Context, in *instr) error {
	switch in.Do {
	case doTimeout:
		inner, done := workflow.WithTimeout(ctx, in.For)
		err := p.all(inner, in.Body)
		done()
		return p.left(ctx, in, err)
	case doScope:
		inner, cancel := workflow.WithCancel(ctx)
		workflow.Go(inner, func(ctx workflow.Context) {
			if workflow.Sleep(ctx, in.For) == nil {
				cancel()
			}
		})
		err := p.all(inner, in.Body)
		cancel()
		return p.left(ctx, in, err)
	case doShield:
		return p.ended(in, "", p.all(workflow.Shield(ctx), in.Body))
	case doAll:
		return p.ended(in, "", p.strands(ctx, in, p.one))
	case doTry:
		if err := p.all(ctx, in.Body); err != nil && !errors.Is(err, workflow.ErrCancelled) && !errors.Is(err, workflow.ErrTimeout) {
			p.note(in, wentFailed, "")
			return nil
		} else {
			return p.ended(in, "", err)
		}
	case doSaga:
		var reached []*instr
		_, err := workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (struct{}, error) {
			for i := range in.Body {
				at := &in.Body[i]
				reached = append(reached, at)
				p.compensate(undo, at)
				if err := p.one(ctx, at); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, nil
		})
		p.saga(in, reached, err)
		return p.ended(in, "", err)
	}
	panic(fmt.Sprintf("instruction %d: %q", in.ID, in.Do))
}

// left leaves a scope: its own end is no error, what comes from outside is.
func (p *interpreter) left(outer workflow.Context, in *instr, err error) error {
	if errors.Is(err, workflow.ErrCancelled) || errors.Is(err, workflow.ErrTimeout) {
		if err = outer.Err(); outer.Cancelled() != (err != nil) {
			p.wrong(in, "cancelled %t with %v", outer.Cancelled(), err)
		}
		if err == nil {
			p.note(in, wentLate, "")
			return nil
		}
	}
	return p.ended(in, "", err)
}

// strands runs every instruction of a body in a strand of its own. The first error by place is the
// result.
func (p *interpreter) strands(ctx workflow.Context, in *instr, each func(workflow.Context, *instr) error) error {
	errs := make([]error, len(in.Body))
	var wg workflow.WaitGroup
	for i := range in.Body {
		if i%2 == 0 {
			wg.Go(ctx, func(ctx workflow.Context) { errs[i] = each(ctx, &in.Body[i]) })
			continue
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			errs[i] = each(ctx, &in.Body[i])
			wg.Done()
		})
	}
	if err := wg.Wait(workflow.Shield(ctx)); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
