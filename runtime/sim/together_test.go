package sim

import (
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// together executes the instructions of Body in strands that belong together.
func (p *interpreter) together(ctx workflow.Context, in *instr) error {
	switch in.Do {
	case doGroup:
		return p.group(ctx, in)
	case doRace:
		return p.race(ctx, in)
	case doCond:
		return p.cond(ctx, in)
	case doMap:
		return p.mapped(ctx, in)
	}
	panic(fmt.Sprintf("instruction %d: %q", in.ID, in.Do))
}

func (p *interpreter) group(ctx workflow.Context, in *instr) error {
	g, inner := workflow.NewGroup(ctx)
	if p.bodies.slips(doGroup) {
		g, _ = workflow.NewGroup(workflow.Shield(ctx)) // whose functions run in another scope
	}
	g.SetLimit(in.Max)
	running := 0
	for i := range in.Body {
		g.Go(func(ctx workflow.Context) error {
			if running++; in.Max > 0 && running > in.Max {
				p.wrong(in, "%d run at once, %d may", running, in.Max)
			}
			defer func() { running-- }()
			if p.bodies.slips(doGroup) {
				ctx = workflow.Shield(ctx)
			}
			return p.one(ctx, &in.Body[i])
		})
	}
	err := g.Wait()
	if running > 0 {
		p.wrong(in, "%d still run", running)
	}
	if !p.bodies.slips(doGroup) && !inner.Cancelled() {
		p.wrong(in, "the group has ended and its scope goes on")
	}
	return p.ended(in, "", err)
}

func (p *interpreter) race(ctx workflow.Context, in *instr) error {
	var runners []func(workflow.Context) (int, error)
	running := 0
	for i := range in.Body {
		runners = append(runners, func(ctx workflow.Context) (int, error) {
			running++
			defer func() { running-- }()
			return in.Body[i].ID, p.one(ctx, &in.Body[i])
		})
	}
	i, id, err := workflow.Race(ctx, runners...)
	switch {
	case running > 0:
		p.wrong(in, "%d still run", running)
	case i < 0 || in.Body[i].ID != id:
		p.wrong(in, "number %d wins with the value of instruction %d", i, id)
		return err
	}
	if p.bodies.slips(doRace) {
		i = len(in.Body) - 1
	}
	if err == nil {
		p.note(in, wentOK, fmt.Sprint(i))
		return nil
	}
	return p.ended(in, "", err)
}

// cond has as many strands that wait for an instruction to end as there are instructions.
func (p *interpreter) cond(ctx workflow.Context, in *instr) error {
	n := len(in.Body)
	errs, waits := make([]error, n), make([]error, n)
	ended, served := 0, -1
	var wg workflow.WaitGroup
	for i := range in.Body {
		wg.Go(ctx, func(ctx workflow.Context) {
			if waits[i] = workflow.Await(ctx, func() bool { return ended > 0 }); waits[i] != nil {
				return
			}
			if ended--; ended < 0 && !p.bodies.slips(doCond) || i < served {
				p.wrong(in, "strand %d goes on after %d, of what it waits for there is %d", i, served, ended)
			}
			served = i
		})
	}
	for i := range in.Body {
		wg.Go(ctx, func(ctx workflow.Context) {
			errs[i] = p.one(ctx, &in.Body[i])
			ended++
		})
	}
	if err := wg.Wait(workflow.Shield(ctx)); err != nil {
		return err
	}
	for _, err := range append(waits, errs...) {
		if err != nil {
			return p.ended(in, "", err)
		}
	}
	return p.ended(in, "", nil)
}

// mapped executes two instructions of Body at once.
func (p *interpreter) mapped(ctx workflow.Context, in *instr) error {
	tries, running := map[int]int{}, 0
	last := max(in.Max, 1)
	out, err := workflow.Map(ctx, in.Body, func(ctx workflow.Context, at instr) (int, error) {
		if running++; running > 2 {
			p.wrong(in, "%d run at once", running)
		}
		defer func() { running-- }()
		tries[at.ID]++
		switch n := tries[at.ID]; {
		case n > last:
			p.wrong(in, "item %d is tried %d times, of %d", at.ID, n, last)
		case n <= at.Tries && n == last:
			return 0, p.ended(&at, "", errPlanned)
		case n <= at.Tries:
			return 0, errPlanned
		}
		return at.ID, p.one(ctx, &at)
	}, &workflow.MapOptions{Limit: 2, CollectErrors: !in.Quick, Attempts: in.Max})
	for i, id := range out {
		if err == nil && id != in.Body[i].ID {
			p.wrong(in, "result %d is that of instruction %d", i, id)
		}
	}
	return p.ended(in, "", err)
}
