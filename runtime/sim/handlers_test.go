package sim

import (
	"errors"

	"github.com/reprise-run/reprise/replay/workflow"
)

// What every program answers, and what none does.
const (
	callIt workflow.Update[call, string] = "call"
	nobody workflow.Update[call, string] = "nobody"
	look   workflow.Query[string, sight] = "look"
)

// call is the argument of an update.
type call struct {
	ID     string `json:"id"`
	Number int    `json:"number"` // no instruction's
	callPlan
}

// sight is what a query sees of a run.
type sight struct {
	Came map[string]int `json:"came"` // signals by name, received or not
	Took []string       `json:"took"`
	Done bool           `json:"done"` // the program, or its generation, has ended
}

// got notes a signal.
func (p *interpreter) got(in *instr, v string) {
	p.note(in, wentSignal, v)
	received := map[string]int{in.Name: 1}
	for name, n := range p.out.Received {
		received[name] += n
	}
	p.out.Received = received
}

// pick takes a signal that is there.
func (p *interpreter) pick(ctx workflow.Context, in *instr) error {
	name := workflow.Signal[string](in.Name)
	if in.Do == doPoll {
		had := name.Pending(ctx)
		i, err := workflow.Select(ctx,
			workflow.OnSignal(name, func(v string) { p.got(in, v) }), workflow.Default(func() { p.note(in, wentLate, "") }))
		if err != nil || (i == 0) != (had > 0) {
			p.wrong(in, "case %d is chosen, %d signals are there: %v", i, had, err)
		}
		return nil
	}
	if err := workflow.Await(ctx, func() bool { return name.Pending(ctx) > 0 }); err != nil {
		return p.ended(in, "", err)
	}
	v, ok, err := name.ReceiveTimeout(ctx, 0)
	if !ok || err != nil {
		p.wrong(in, "a signal was there and cannot be received: %v", err)
		return nil
	}
	p.got(in, v)
	return nil
}

// handle sets the handlers.
func (p *interpreter) handle(ctx workflow.Context) {
	callIt.Handle(ctx, p.call, &workflow.UpdateOptions[call]{Validate: func(c call) error {
		if c.Do == callReject {
			return errors.New("by plan")
		}
		return nil
	}})
	look.Handle(ctx, func(string) (sight, error) {
		s := sight{Came: map[string]int{}, Took: p.out.Took, Done: p.done}
		for _, name := range signalNames {
			s.Came[name] = p.out.Received[name] + workflow.Signal[string](name).Pending(ctx)
		}
		return s, nil
	})
}

// call takes effect in the same moment in which it answers.
func (p *interpreter) call(ctx workflow.Context, c call) (string, error) {
	answer := c.ID
	switch c.Do {
	case callSleep, callFail:
		if err := workflow.Sleep(ctx, c.For); err != nil {
			return "", err
		}
		if c.Do == callFail {
			return "", errPlanned
		}
	case callStep:
		in := &instr{ID: c.Number, For: c.For}
		out, err := workflow.Step(ctx, in.step(), p.body(in, false), in.options())
		if err != nil {
			return "", err
		}
		answer += " " + out
	}
	p.out.Took = append(p.out.Took, c.ID)
	return answer, nil
}
