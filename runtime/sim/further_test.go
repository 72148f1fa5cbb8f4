package sim

import (
	"fmt"
	"time"

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
	case doMap:
		_, err := workflow.Map(ctx, in.Body, func(ctx workflow.Context, at instr) (struct{}, error) {
			return struct{}{}, p.one(ctx, &at)
		}, &workflow.MapOptions{Limit: 2, CollectErrors: true})
		return p.ended(in, "", err)
	case doLock:
		return p.lock(ctx, in)
	case doPipe:
		return p.pipe(ctx, in)
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

func (p *interpreter) lock(ctx workflow.Context, in *instr) error {
	var mu workflow.Mutex
	inside := false
	err := p.strands(ctx, in, func(ctx workflow.Context, at *instr) error {
		if err := mu.Lock(ctx); err != nil {
			return err
		}
		defer mu.Unlock()
		if inside {
			p.note(in, wentTwice, "")
		}
		inside = true
		err := p.one(ctx, at)
		inside = false
		return err
	})
	return p.ended(in, "", err)
}

func (p *interpreter) pipe(ctx workflow.Context, in *instr) error {
	values := workflow.NewChannel[int](in.Max%2, "")
	var failed error
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer values.Close()
		for i := range in.Max {
			if failed = workflow.Sleep(ctx, in.For/time.Duration(in.Max)); failed != nil {
				return
			}
			if failed = values.Send(ctx, i); failed != nil {
				return
			}
		}
	})
	var got []int
	for {
		v, ok, err := values.Receive(ctx)
		if err == nil && !ok {
			err = failed
		}
		if err != nil || !ok {
			return p.ended(in, fmt.Sprint(got), err)
		}
		got = append(got, v)
	}
}
