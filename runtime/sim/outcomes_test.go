package sim

import (
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// outcomes executes the instructions that wait for several futures, or for one in several strands.
func (p *interpreter) outcomes(ctx workflow.Context, in *instr) error {
	if in.Do == doPromise {
		return p.promise(ctx, in)
	}
	var list []workflow.Future[string]
	for i := range in.Body {
		list = append(list, p.begin(ctx, &in.Body[i]))
	}
	switch in.Do {
	case doFirst:
		i, out, err := workflow.First(ctx, list...)
		for k := range list {
			if k == i && !list[k].Ready() || k < i && list[k].Ready() {
				p.wrong(in, "number %d is first, number %d has its outcome %t", i, k, list[k].Ready())
			}
		}
		if i >= 0 {
			_ = p.ended(&in.Body[i], out, err)
		}
		return p.numbered(in, i, err)
	case doBest:
		i, out, err := workflow.FirstSuccess(ctx, list...)
		if i >= 0 {
			p.note(&in.Body[i], wentOK, out)
		}
		return p.numbered(in, i, err)
	}
	values, err := workflow.All(ctx, list...)
	for i, v := range values {
		p.note(&in.Body[i], wentOK, v)
	}
	return p.ended(in, fmt.Sprint(len(values)), err)
}

// numbered notes an end of one of several.
func (p *interpreter) numbered(in *instr, i int, err error) error {
	_ = p.ended(in, "", err)
	p.out.Trace[len(p.out.Trace)-1].Got = fmt.Sprint(i)
	return err
}

// promise settles a promise that some strands wait for, each in another way. All see the same.
func (p *interpreter) promise(ctx workflow.Context, in *instr) error {
	kept := workflow.NewPromise[string]()
	var value string
	var failure error
	var wg workflow.WaitGroup
	settled := false
	seen := make([]error, in.Max)
	for i := range seen {
		wg.Go(ctx, func(ctx workflow.Context) {
			var v string
			v, seen[i] = await(ctx, i, kept.Future())
			if same := settled && v == value && seen[i] == failure; !same && (seen[i] == nil || !ctx.Cancelled()) {
				p.wrong(in, "strand %d sees %q and %v, the promise is settled %t with %q and %v", i, v, seen[i], settled, value, failure)
			}
		})
	}
	wg.Go(ctx, func(ctx workflow.Context) {
		at := &in.Body[0]
		value, failure = p.step(ctx, at)
		_ = p.ended(at, value, failure)
		first := false
		if settled = true; failure != nil {
			first = kept.Fail(failure)
		} else {
			first = kept.Resolve(value)
		}
		if !first || kept.Resolve("again") || kept.Fail(errPlanned) {
			p.wrong(in, "a promise is settled for the first time %t, or twice", first)
		}
	})
	if err := wg.Wait(workflow.Shield(ctx)); err != nil {
		return err
	}
	for _, err := range seen {
		if err != nil {
			return p.ended(in, "", err)
		}
	}
	return p.ended(in, value, nil)
}

// await waits for a future in the i-th way that there is.
func await(ctx workflow.Context, i int, f workflow.Future[string]) (v string, err error) {
	switch i % 4 {
	case 0:
		return f.Get(ctx)
	case 1:
		_, stopped := workflow.Select(ctx, workflow.OnFuture(f, func(out string, failed error) { v, err = out, failed }))
		if stopped != nil {
			return "", stopped
		}
		return v, err
	case 2:
		_, v, err = workflow.First(ctx, f)
		return v, err
	}
	list, err := workflow.All(ctx, f)
	if err != nil {
		return "", err
	}
	return list[0], nil
}
