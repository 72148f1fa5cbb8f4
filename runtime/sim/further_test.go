package sim

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// further executes what else the language has.
func (p *interpreter) further(ctx workflow.Context, in *instr) error {
	switch in.Do {
	case doContinue:
		p.note(in, wentOn, "")
		return &goOn{in.Body}
	case doFinish:
		return p.ended(in, "", workflow.HandlersFinished(ctx))
	case doUntil:
		ok, err := workflow.AwaitTimeout(ctx, in.For, func() bool { return len(p.out.Took) >= in.Max })
		if err == nil && !ok {
			p.note(in, wentLate, "")
			return nil
		}
		return p.ended(in, "", err)
	case doRecord:
		v := workflow.SideEffect(ctx, in.record(), func() string { return p.bodies.value(false) })
		return p.ended(in, v, nil)
	case doLook:
		same := func(a, b string) bool { return a == b }
		v := workflow.SideEffectIfChanged(ctx, in.record(), func() string { return p.bodies.value(true) }, same)
		return p.ended(in, v, nil)
	case doChange:
		if in.For > 0 {
			ctx = workflow.ChangeScope(ctx)
		}
		p.note(in, map[bool]string{true: wentOK, false: wentFailed}[workflow.Changed(ctx, "change")], "")
		return nil
	case doLock:
		return p.lock(ctx, in)
	case doSemaphore:
		return p.semaphore(ctx, in)
	case doPipe:
		return p.pipe(ctx, in)
	case doExchange:
		return p.exchange(ctx, in)
	case doTimer:
		return p.timer(ctx, in)
	case doChance:
		return p.chance(ctx, in)
	case doLog:
		p.log(ctx, in)
		return nil
	case doHint:
		ok, err := workflow.AwaitTimeout(ctx, in.For, ctx.ShouldContinue)
		if err == nil && !ok {
			p.note(in, wentLate, "")
			return nil
		}
		return p.ended(in, "", err)
	}
	panic(fmt.Sprintf("instruction %d: %q", in.ID, in.Do))
}

// record is the name of the value.
func (in *instr) record() string {
	if in.Do == doLook {
		return "look"
	}
	return fmt.Sprintf("v%d", in.ID)
}

// timer executes Body beside a timer.
func (p *interpreter) timer(ctx workflow.Context, in *instr) error {
	before := ctx.Now()
	t := workflow.NewNamedTimer(ctx, fmt.Sprintf("t%d", in.ID), in.For)
	err := p.one(ctx, &in.Body[0])
	fired := t.Fired()
	switch late := ctx.Now().Sub(before) >= in.For; {
	case fired && !late:
		p.note(in, wentEarly, "")
		return err
	case in.Quick || err != nil:
		if stopped := t.Stop(); stopped == fired && !ctx.Cancelled() {
			p.wrong(in, "the timer is stopped %t, and had fired %t", stopped, fired)
		}
		if again := t.Get(ctx); fired != (again == nil) || !fired && !errors.Is(again, workflow.ErrCancelled) && !ctx.Cancelled() {
			p.wrong(in, "a timer that had fired %t and was stopped then gives %v", fired, again)
		}
	default:
		err = t.Get(ctx)
		if err == nil && (!t.Fired() || ctx.Now().Sub(before) < in.For) {
			p.wrong(in, "the timer is waited for after %s, and has fired %t", ctx.Now().Sub(before), t.Fired())
		}
	}
	if t.Stop() {
		p.wrong(in, "a timer that has ended is stopped")
	}
	return p.ended(in, "", err)
}

// chance draws what a replay must draw again. The recorded value is what was drawn first.
func (p *interpreter) chance(ctx workflow.Context, in *instr) error {
	drawn := fmt.Sprintf("%d %s", workflow.Random(ctx).Uint64(), workflow.UUID(ctx))
	if p.bodies.slips(doChance) {
		drawn = fmt.Sprintf("%d %x", workflow.Random(ctx).Uint64(), hash(0, p.bodies.value(false)))
	}
	first := workflow.SideEffect(ctx, in.record(), func() string { return drawn })
	err := workflow.Sleep(ctx, in.For)
	if first != drawn {
		p.wrong(in, "a replay draws %s, and first it was %s", drawn, first)
	}
	return p.ended(in, first, err)
}

// log writes a line, at one of the levels.
func (p *interpreter) log(ctx workflow.Context, in *instr) {
	l := workflow.Log(ctx)
	line := []func(string, ...any){l.Debug, l.Info, l.Warn, l.Error}[in.ID%4]
	line(lineOf(in.ID), "instr", in.ID)
	if p.bodies.slips(doLog) {
		line(lineOf(in.ID))
	}
	p.note(in, wentOK, "")
}

// lineOf is what the instruction writes.
func lineOf(id int) string { return fmt.Sprint(linePrefix, id) }

const linePrefix = "line of "
